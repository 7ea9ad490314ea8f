package main

import (
	"bytes"
	"compress/gzip"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/text/encoding/charmap"
)

// inputCmds make the files that a script can't hold as text:
//
//	latin1252 IN OUT      writes a text in Windows-1252
//	pack IN OUT [half]    packs with gzip; half leaves the second half out
var inputCmds = map[string]func(*testscript.TestScript, bool, []string){
	"latin1252": func(ts *testscript.TestScript, _ bool, args []string) {
		text, err := charmap.Windows1252.NewEncoder().String(ts.ReadFile(args[0]))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
	},
	"pack": func(ts *testscript.TestScript, _ bool, args []string) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(ts.ReadFile(args[0])))
		ts.Check(err)
		ts.Check(w.Close())
		out := b.Bytes()
		if len(args) > 2 {
			out = out[:len(out)/2]
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), out, 0o600))
	},
}
