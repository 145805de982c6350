package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// maxFile is how long a configuration file may be, in bytes.
const maxFile = 1 << 20

// file is what a configuration file says of each key, and in which line. A message about it quotes no value: it may be a secret.
type file struct {
	name   string // empty: there is no file
	values map[string]any
	lines  map[string]int
	table  []key
}

// newFile reads the file that the flags name, or DefaultFile if there is one. problems are keys that it should not have; the
// other keys still count.
func newFile(flags *pflag.FlagSet, table []key) (f file, problems []error, err error) {
	f = file{values: map[string]any{}, lines: map[string]int{}, table: table}
	if f.name, err = findFile(flags); err != nil || f.name == "" {
		return f, nil, err
	}
	text, err := readFile(f.name)
	if err != nil {
		return f, nil, fmt.Errorf("configuration file: %w", err)
	}
	root, err := f.parse(text)
	if err != nil || root == nil {
		return f, nil, err
	}
	return f, f.group(root, ""), nil
}

var anchor = regexp.MustCompile(`anchor '[^']*'`) // it may be a password that begins with *

// parse returns the value that a file has; nil if it has none.
func (f file) parse(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // it is empty
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			return nil, f.wrong(second.Line, "configuration file: a second document is not allowed (after ---)")
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: configuration file: this is no YAML: %s", f.name,
			anchor.ReplaceAllString(err.Error(), "anchor (write a text that begins with * in quotes)"))
	}
	return document.Content[0], nil
}

func findFile(flags *pflag.FlagSet) (string, error) {
	if named, err := flags.GetString(fileFlag); err != nil || named != "" {
		return named, err
	}
	_, err := os.Stat(DefaultFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return DefaultFile, err
}

// readFile reads a regular file that is not too long. Reading anything else may never end.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: want a regular file", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is a pipe, a device or a socket: want a regular file", name)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is longer than %d bytes: want a file of settings, as config.yaml is", name, maxFile)
	}
	return os.ReadFile(name)
}

// group reads a group of keys, or the whole file, whose path is empty.
func (f file) group(node *yaml.Node, path string) (problems []error) {
	if node = resolved(node); node.Kind != yaml.MappingNode {
		if node.Tag == "!!null" { // every line is a comment
			return nil
		}
		name := path + ": "
		if path == "" {
			name = ""
		}
		return []error{f.wrong(node.Line, "%sone value is not allowed: it is a group of keys; there are %s", name, list(f.table, key.path))}
	}
	for i := 0; i < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		full := strings.TrimPrefix(path+"."+strings.ToLower(name.Value), ".")
		isKey := slices.ContainsFunc(f.table, func(k key) bool { return k.name == full })
		isGroup := slices.ContainsFunc(f.table, func(k key) bool { return strings.HasPrefix(k.name, full+".") })
		switch before := f.lines[full]; {
		case !isKey && !isGroup:
			problems = append(problems, f.wrong(name.Line, "there is no %s; there are %s", nameOf(name, value, path), list(f.table, key.path)))
			continue
		case before > 0:
			problems = append(problems, f.wrong(name.Line, "%s is not allowed twice: it is in line %d already", full, before))
			continue
		}
		f.lines[full] = name.Line
		if isGroup {
			problems = append(problems, f.group(value, full)...)
			continue
		}
		var said any
		if err := value.Decode(&said); err != nil { // of a tag, say
			problems = append(problems, f.wrong(value.Line, "%s: this value is not allowed: want a plain one", full))
			continue
		}
		f.values[full] = written(value, said)
	}
	return problems
}

// written returns a value, or the values of a list, as the file has it; said is what YAML makes of it. To YAML 0200, 1_000 and 0x10 are
// numbers, and a password of these signs would be another.
func written(node *yaml.Node, said any) any {
	node = resolved(node)
	switch _, isText := said.(string); {
	case node.Kind == yaml.SequenceNode:
		texts := make([]any, len(node.Content))
		for i, item := range node.Content {
			texts[i] = written(item, said.([]any)[i])
		}
		return texts
	case node.Kind != yaml.ScalarNode || said == nil || isText:
		return said
	}
	return node.Value
}

var simple = regexp.MustCompile(`^[A-Za-z][\w.-]{0,39}$`)

// nameOf names a key that is unknown, unless it may be a value: in "password:s3cret" a space is missing, in "{s3cret}" the key.
func nameOf(name, value *yaml.Node, path string) string {
	if !simple.MatchString(name.Value) || IsSecret(path) && value.Tag == "!!null" {
		return "such key"
	}
	return "key " + strings.TrimPrefix(path+"."+name.Value, ".")
}

func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// wrong returns an error in a line, counted from 1.
func (f file) wrong(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", f.name, line, fmt.Sprintf(format, args...))
}
