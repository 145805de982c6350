package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// Do executes a command on a node at once, outside the schedule and for no client. It returns the reply as nil, a string, an int or a []any
// of these; an error reply of Redis is returned as the error.
func (s *Server) Do(node int, words ...string) (reply any, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values.directWords = append(s.values.directWords, words...)
	conn := &Conn{Node: node, server: s, watcher: &simredis.Conn{}}
	raw, err := conn.query([][]string{words})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return parseReply(raw)
}

// parseReply converts a RESP reply to a Go value.
func parseReply(raw []byte) (any, error) {
	message, err := proto.Read(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, fmt.Errorf("parsing the reply %q: %w", raw, err)
	}
	return parseMessage(message)
}

// parseMessage converts one RESP message, which may be a nested array, to a Go value.
func parseMessage(message string) (any, error) {
	switch {
	case strings.HasPrefix(message, "$-1"), strings.HasPrefix(message, "*-1"), strings.HasPrefix(message, "_"):
		return nil, nil //nolint:nilnil // nil is the value of a null reply
	case strings.HasPrefix(message, "-"):
		return nil, errors.New(strings.TrimSpace(message[1:]))
	case strings.HasPrefix(message, "*"):
		elements, err := proto.ReadArray(message)
		if err != nil {
			return nil, fmt.Errorf("parsing the reply %q: %w", message, err)
		}
		list := make([]any, len(elements))
		for i, element := range elements {
			if list[i], err = parseMessage(element); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	value, err := proto.Parse(message)
	if err != nil {
		return nil, fmt.Errorf("parsing the reply %q: %w", message, err)
	}
	return value, nil
}
