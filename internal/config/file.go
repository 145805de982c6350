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

// maxFile is the largest size of a configuration file, in bytes. A larger file is refused.
const maxFile = 1 << 20

// file holds the values of a configuration file. Messages about it quote no value, because it may be a secret.
type file struct {
	name   string         // path; empty: there is no file
	values map[string]any // value of each key
	lines  map[string]int // 1-based line of each key
	table  []key          // keys that are allowed
}

// newFile reads the file that the flags name, or DefaultFile if it exists. problems are errors in single keys; the other keys are read.
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

// anchor matches the name of an anchor in an error of YAML, which may be a password that begins with *.
var anchor = regexp.MustCompile(`anchor '[^']*'`)

// parse returns the value of the file's YAML document; nil if it is empty.
func (f file) parse(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // an empty file is valid
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			return nil, f.lineError(second.Line, "configuration file: a second document is not allowed (after ---)")
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: configuration file: not valid YAML: %s", f.name,
			anchor.ReplaceAllString(err.Error(), "anchor (write a text that begins with * in quotes)"))
	}
	return document.Content[0], nil
}

// findFile returns the path of the configuration file; empty if there is none.
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

// readFile reads a regular file of at most maxFile bytes. Reading anything else might never end.
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

// group reads a group of keys; the path of the whole file is empty.
func (f file) group(node *yaml.Node, path string) (problems []error) {
	if node = resolved(node); node.Kind != yaml.MappingNode {
		if node.Tag == "!!null" { // Every line is a comment.
			return nil
		}
		name := path + ": "
		if path == "" {
			name = ""
		}
		return []error{f.lineError(node.Line, "%sone value is not allowed: it is a group of keys; there are %s", name, list(f.table, key.path))}
	}
	for i := 0; i < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		full := strings.TrimPrefix(path+"."+strings.ToLower(name.Value), ".")
		isKey := slices.ContainsFunc(f.table, func(k key) bool { return k.name == full })
		isGroup := slices.ContainsFunc(f.table, func(k key) bool { return strings.HasPrefix(k.name, full+".") })
		before := f.lines[full]
		switch {
		case !isKey && !isGroup:
			problems = append(problems, f.lineError(name.Line, "there is no %s; there are %s", nameOf(name, value, path), list(f.table, key.path)))
			continue
		case before > 0:
			problems = append(problems, f.lineError(name.Line, "%s is not allowed twice: it is in line %d already", full, before))
			continue
		}
		f.lines[full] = name.Line
		if isGroup {
			problems = append(problems, f.group(value, full)...)
			continue
		}
		var decoded any
		if err := value.Decode(&decoded); err != nil { // A tag, for example, makes decoding fail.
			problems = append(problems, f.lineError(value.Line, "%s: this value is not allowed: want a plain one", full))
			continue
		}
		f.values[full] = sourceText(value, decoded)
	}
	return problems
}

// sourceText returns a value, or the values of a list, as the file writes it; decoded is the value as YAML reads it. YAML reads 0200, 1_000
// and 0x10 as numbers, which would change a password.
func sourceText(node *yaml.Node, decoded any) any {
	node = resolved(node)
	_, isText := decoded.(string)
	switch {
	case node.Kind == yaml.SequenceNode:
		texts := make([]any, len(node.Content))
		for i, item := range node.Content {
			texts[i] = sourceText(item, decoded.([]any)[i])
		}
		return texts
	case node.Kind != yaml.ScalarNode || decoded == nil || isText:
		return decoded
	}
	return node.Value
}

// simple matches a text that may be the name of a key.
var simple = regexp.MustCompile(`^[A-Za-z][\w.-]{0,39}$`)

// nameOf returns the name of an unknown key for an error, unless the name may be a value, as in "password:s3cret", which lacks a space, or
// "{s3cret}", which lacks a key.
func nameOf(name, value *yaml.Node, path string) string {
	if !simple.MatchString(name.Value) || IsSecret(path) && value.Tag == "!!null" {
		return "such key"
	}
	return "key " + strings.TrimPrefix(path+"."+name.Value, ".")
}

// resolved returns the node that an alias stands for.
func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// lineError returns an error at a line of the file, counted from 1.
func (f file) lineError(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", f.name, line, fmt.Sprintf(format, args...))
}
