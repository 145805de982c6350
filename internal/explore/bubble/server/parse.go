package server

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
)

// errMalformedCommand is returned by Write when a client sends something other than an array of bulk strings.
var errMalformedCommand = errors.New("not a list of bulk strings")

// parseCommands returns the words of the complete commands at the beginning of sent, and the remaining bytes.
func parseCommands(sent []byte) (commands [][]string, rest []byte, err error) {
	for rest = sent; ; {
		command, after, err := parseCommand(rest)
		if err != nil || command == nil {
			return commands, rest, err
		}
		commands, rest = append(commands, command), after
	}
}

// parseCommand returns the first command and the remaining bytes; a nil command means that it has not arrived completely.
func parseCommand(sent []byte) (command []string, rest []byte, err error) {
	words, rest, ok, err := parseLength(sent, '*')
	if err != nil || !ok {
		return nil, sent, err
	}
	const maxGrow = 64 // words to allocate at once, whatever length the client announces
	command = slices.Grow(command, max(0, min(words, maxGrow)))
	for range words {
		var size int
		if size, rest, ok, err = parseLength(rest, '$'); err != nil || !ok || len(rest) < size+2 {
			return nil, sent, err
		}
		command, rest = append(command, string(rest[:size])), rest[size+2:]
	}
	return command, rest, nil
}

// parseLength reads a line of a type marker ('*' or '$') and a length; ok is false if the line is incomplete.
func parseLength(text []byte, marker byte) (n int, rest []byte, ok bool, err error) {
	line, rest, ok := bytes.Cut(text, []byte("\r\n"))
	if !ok {
		return 0, text, false, nil
	}
	if len(line) == 0 || line[0] != marker {
		return 0, text, false, errMalformedCommand
	}
	n, err = strconv.Atoi(string(line[1:]))
	return n, rest, true, err
}
