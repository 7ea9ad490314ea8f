package prompts

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is the override of a template.
type file struct {
	path string
	text []byte
}

// maxFile bounds the size of a template, in bytes: more is a wrong file.
const maxFile = 1 << 20

// overrides reads the templates in a folder, by name. A file or folder that no
// metric reads is an error: a misspelt name would otherwise leave the built-in
// template in place without a word. Hidden files, a README and what stands
// beside the metrics' folders without the ending .md are left alone.
func overrides(dir string, specs []spec) (map[string]file, []error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, []error{fmt.Errorf("read the prompt folder: %w", err)}
	}
	files := map[string]file{}
	var problems []error
	folders := foldersOf(specs)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case err != nil:
			problems = append(problems, fmt.Errorf("read the prompt folder: %w", err))
		case info.IsDir() && slices.Contains(folders, e.Name()):
			problems = append(problems, metricOverrides(path, e.Name(), namesOf(specs), files)...)
		case info.IsDir():
			problems = append(problems, fmt.Errorf("%s: no metric of that name has prompts%s", path, didYouMean(e.Name(), folders)))
		case strings.HasSuffix(e.Name(), ".md") && !isReadme(e.Name()):
			problems = append(problems, fmt.Errorf("%s: a template belongs in its metric's folder%s", path, didYouMean(strings.TrimSuffix(e.Name(), ".md"), namesOf(specs))))
		}
	}
	if len(files) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%s: the prompt folder holds no template; a template is <metric>/<step>.md (known: %s)", dir, strings.Join(namesOf(specs), ", ")))
	}
	return files, problems
}

// metricOverrides reads the templates in a metric's folder into files.
func metricOverrides(dir, metric string, known []string, files map[string]file) []error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []error{fmt.Errorf("read the prompt folder: %w", err)}
	}
	var problems []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || isReadme(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		step, isMD := strings.CutSuffix(e.Name(), ".md")
		name := metric + "/" + step
		if !isMD || !slices.Contains(known, name) {
			problems = append(problems, fmt.Errorf("%s: no step reads this file%s", path, didYouMean(name, known)))
			continue
		}
		text, err := readTemplate(path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		files[name] = file{path: path, text: text}
	}
	return problems
}

func isReadme(name string) bool { return strings.HasPrefix(strings.ToUpper(name), "README") }

func readTemplate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the prompt template: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: a template must be a file, this is %s", path, kindOf(info.Mode()))
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: a template of %d bytes; more than %d can't be meant", path, info.Size(), maxFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the prompt template: %w", err)
	}
	return text, nil
}

func kindOf(m fs.FileMode) string {
	if m.IsDir() {
		return "a directory"
	}
	return "something else (" + m.Type().String() + ")"
}

// Export writes the source of every template to dir/<metric>/<step>.md, as a
// start for one's own. It writes nothing if one of the files exists already,
// and returns the paths that it wrote.
func (s *Set) Export(dir string) ([]string, error) {
	var paths []string
	for _, t := range s.List() {
		path := filepath.Join(dir, filepath.FromSlash(t.Name)+".md")
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("export the prompt templates: %s exists already; choose another folder or remove it", path)
		}
		paths = append(paths, path)
	}
	for i, t := range s.List() {
		if err := os.MkdirAll(filepath.Dir(paths[i]), 0o755); err != nil {
			return paths[:i], fmt.Errorf("export the prompt templates: %w", err)
		}
		if err := writeNew(paths[i], t.Source); err != nil {
			return paths[:i], fmt.Errorf("export the prompt templates: %w", err)
		}
	}
	return paths, nil
}

// writeNew writes a file that must not exist yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
