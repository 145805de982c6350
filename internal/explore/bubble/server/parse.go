package server

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
)

// errProtocol means that a client sent something that is no command.
var errMalformedCommand = errors.New("that is no list of bulk strings")

// parse gives the whole commands at the beginning of what was sent, and the rest.
func parseCommands(sent []byte) (commands [][]string, rest []byte, err error) {
	for rest = sent; ; {
		command, after, err := parseCommand(rest)
		if err != nil || command == nil {
			return commands, rest, err
		}
		commands, rest = append(commands, command), after
	}
}

// parseOne gives the first command, and none if it is not whole yet.
func parseCommand(sent []byte) (command []string, rest []byte, err error) {
	words, rest, ok, err := parseLength(sent, '*')
	if err != nil || !ok {
		return nil, sent, err
	}
	command = slices.Grow(command, max(0, min(words, 64))) // that is still nil where there is none
	for range words {
		var size int
		if size, rest, ok, err = parseLength(rest, '$'); err != nil || !ok || len(rest) < size+2 {
			return nil, sent, err
		}
		command, rest = append(command, string(rest[:size])), rest[size+2:]
	}
	return command, rest, nil
}

// number reads a line that is a sign and a number.
func parseLength(text []byte, sign byte) (n int, rest []byte, ok bool, err error) {
	line, rest, ok := bytes.Cut(text, []byte("\r\n"))
	if !ok {
		return 0, text, false, nil
	}
	if len(line) == 0 || line[0] != sign {
		return 0, text, false, errMalformedCommand
	}
	n, err = strconv.Atoi(string(line[1:]))
	return n, rest, true, err
}
