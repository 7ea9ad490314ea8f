// Command gen packs a vocabulary in tiktoken's form (a line per token: the
// token in base64, a space, its rank) into the form that package tokens
// embeds.
//
//	go run ./tokens/internal/gen <o200k_base.tiktoken >tokens/vocab/o200k_base.bpe
//
// The vocabularies are OpenAI's, published with tiktoken under the MIT
// licence. The files that were packed came with the Go module
// github.com/pkoukk/tiktoken-go-loader v0.0.2 (folder assets), and their
// SHA-256 is the one that tiktoken itself checks; a test of package tokens
// holds that what is embedded is these files to the byte.
package main

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ragjudge/ragjudge/tokens/internal/pack"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	tokens, err := read(in)
	if err != nil {
		return err
	}
	data, err := pack.Pack(tokens)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// read returns the tokens in order of rank. The ranks must be the line
// numbers, from 0: both vocabularies are so, and the packed form relies on it.
func read(in io.Reader) ([][]byte, error) {
	var tokens [][]byte
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			word, rank, _ := strings.Cut(line, " ")
			token, err := base64.StdEncoding.DecodeString(word)
			if err != nil {
				return nil, fmt.Errorf("line %d: decode token: %w", len(tokens)+1, err)
			}
			if rank != fmt.Sprint(len(tokens)) {
				return nil, fmt.Errorf("line %d: rank %q, want %d", len(tokens)+1, rank, len(tokens))
			}
			tokens = append(tokens, token)
		}
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
