package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parse gives the documents of a file.
func parse(text io.Reader) (documents []*yaml.Node, err error) {
	decoder := yaml.NewDecoder(text)
	for {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		}
		documents = append(documents, &document)
	}
}

// badWork bounds how many bytes are parsed to find the line of an error.
const badWork = 4 * maxFile

// badLine gives the first line of a text, counted from 1, that makes it invalid YAML: all lines before it together are valid. The parser
// itself names the line where it gave up, or where the current group began, or none, and may be one off.
func badLine(text []byte) int {
	reader := &lineReader{rest: text}
	_, _ = parse(reader) // it fails, at the last line that it has read or before
	read := text[:len(text)-len(reader.rest)]
	good := read
	for work := 0; work < badWork && len(good) > 0; work += len(good) {
		good = good[:1+bytes.LastIndexByte(good[:len(good)-1], '\n')]
		if _, err := parse(bytes.NewReader(good)); err == nil {
			return 1 + bytes.Count(good, []byte("\n"))
		}
	}
	return bytes.Count(read, []byte("\n"))
}

// lineReader gives its reader no more than a line at a time.
type lineReader struct{ rest []byte }

func (r *lineReader) Read(to []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	line, _, _ := bytes.Cut(r.rest, []byte("\n"))
	n := copy(to, r.rest[:min(len(line)+1, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}

var itsLine = regexp.MustCompile(`^yaml: (line \d+: )?`)

// told is the parser's error without its line number and without text of the file.
func told(err error) string {
	text := itsLine.ReplaceAllString(err.Error(), "")
	if strings.Contains(text, "anchor") { // it is quoted, and may be a password that begins with *
		return "a * stands for nothing that is there; write a text that begins with one in quotes"
	}
	return text
}
