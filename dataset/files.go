package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Expand turns paths and patterns into the files that they name, in order. A
// pattern holds *, ? or [...], and ** for any number of folders; its files are
// sorted by name, and folders and names that begin with a dot are left out, as
// a shell does. A path that exists is that file, whatever characters it has.
// A pattern that matches nothing is an error, and so is a file that is named
// twice, since its samples would count twice.
func Expand(paths []string) ([]string, error) {
	var out []string
	var errs []error
	for _, path := range paths {
		files, err := expand(path)
		if err != nil {
			errs = append(errs, err)
		}
		out = append(out, files...)
	}
	if len(out) > 1 {
		errs = append(errs, namedTwice(out)...)
	}
	return out, errors.Join(errs...)
}

func expand(path string) ([]string, error) {
	whole := &part{path: path}
	if path == Stdin || !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	if _, err := os.Lstat(path); err == nil {
		return []string{path}, nil
	}
	if _, err := filepath.Match(path, ""); err != nil {
		return nil, whole.fault(faultf("is not a pattern of file names: a [ is not closed").withHint("a file of that name does not exist either"))
	}
	files, err := glob(path)
	if err != nil {
		return nil, whole.fault(openFault(err))
	}
	if len(files) == 0 {
		return nil, whole.fault(faultf("matches no file").withHint("relative paths in a configuration start at its folder, those of flags at the working directory"))
	}
	return files, nil
}

// glob is filepath.Glob with ** and without folders and hidden names.
func glob(pattern string) ([]string, error) {
	elems := strings.Split(filepath.ToSlash(pattern), "/")
	plain := 0
	for plain < len(elems)-1 && !strings.ContainsAny(elems[plain], "*?[") {
		plain++
	}
	root := strings.Join(elems[:plain], "/")
	if plain == 0 {
		root = "."
	} else if root == "" {
		root = "/"
	}
	var files []string
	err := walk(filepath.FromSlash(root), plain == 0, elems[plain:], &files)
	slices.Sort(files)
	return slices.Compact(files), err
}

// walk collects the files below dir that match the elements of a pattern.
func walk(dir string, here bool, elems []string, files *[]string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if here {
			path = e.Name()
		}
		if err := visit(path, e, elems, files); err != nil {
			return err
		}
	}
	return nil
}

func visit(path string, e fs.DirEntry, elems []string, files *[]string) error {
	elem, rest := elems[0], elems[1:]
	if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(elem, ".") {
		return nil
	}
	if elem == "**" {
		if e.IsDir() { // links to folders are not followed: they may lead round in a circle
			if err := walk(path, false, elems, files); err != nil {
				return err
			}
		}
		if len(rest) == 0 {
			rest = []string{"*"}
		}
		return visit(path, e, rest, files)
	}
	if ok, err := filepath.Match(elem, e.Name()); err != nil || !ok {
		return err
	}
	if len(rest) > 0 {
		if st, err := os.Stat(path); err != nil || !st.IsDir() {
			return nil
		}
		return walk(path, false, rest, files)
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil
	}
	*files = append(*files, path) // one that can't be opened is an error later
	return nil
}

// namedTwice finds files that stand in the list more than once, by whatever
// name.
func namedTwice(files []string) []error {
	var errs []error
	seen := make(map[string]string, len(files))
	for _, path := range files {
		id := path
		if path != Stdin {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				id = real
			}
			if abs, err := filepath.Abs(id); err == nil {
				id = abs
			}
		}
		if first, twice := seen[id]; twice {
			errs = append(errs, (&part{path: path}).fault(faultf("is named twice: it is the same file as %s", quoted(first)).
				withHint("its samples would count twice; name it once")))
			continue
		}
		seen[id] = path
	}
	return errs
}
