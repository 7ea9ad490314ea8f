//go:build unix

package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// canMake reports whether dir can be written, or, if it is missing, made: its
// nearest existing parent can be written.
func canMake(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err == nil {
			return info.IsDir() && unix.Access(dir, unix.W_OK|unix.X_OK) == nil
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return false
		}
		dir = parent
	}
}
