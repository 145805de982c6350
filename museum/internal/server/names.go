package server

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// names gives the random values of clients names that are the same in every run: A1 is the first that process A sent.
type names struct {
	given map[string]string // by the value
	count map[string]int    // of a process
}

// rename is a command with the name of its random value instead of the value: what SET writes, and the first argument of a script.
func (n *names) rename(process string, command []string) []string {
	at := -1
	switch strings.ToUpper(command[0]) {
	case "SET", "SETNX":
		at = 2
	case "EVAL", "EVALSHA":
		if len(command) > 2 {
			keys, _ := strconv.Atoi(command[2])
			at = 3 + keys
		}
	}
	if at < 0 || at >= len(command) {
		return command
	}
	if _, err := strconv.Atoi(command[at]); err == nil {
		return command
	}
	renamed := append([]string{}, command...)
	renamed[at] = n.name(process, command[at])
	return renamed
}

func (n *names) name(process, value string) string {
	name, known := n.given[value]
	if !known {
		n.count[process]++
		name = fmt.Sprint(process, n.count[process])
		n.given[value] = name
	}
	return name
}

// restore puts the value back into a reply that is nothing but its name.
func (n *names) restore(reply []byte) []byte {
	for value, name := range n.given {
		if bytes.Equal(reply, bulk(name)) {
			return bulk(value)
		}
	}
	return reply
}

func bulk(text string) []byte { return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(text), text) }
