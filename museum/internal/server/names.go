package server

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"lockstep/internal/lock"
)

// names gives the random values of clients names that are the same in every run: A1 is the first that process A sent. Two processes are
// taken never to have the same value.
type names struct {
	given map[own]string
	count map[string]int // of a process
}

// own is a value of a process.
type own struct{ process, value string }

// rename is a command with the name of its random value instead of the value: what SET writes, and the first argument of a script.
func (n *names) rename(process string, command []string) []string {
	at, numbers := len(command), false
	switch strings.ToUpper(command[0]) {
	case "SET", "SETNX":
		at, numbers = 2, true
	case "EVAL", "EVALSHA":
		if len(command) > 2 {
			keys, _ := strconv.Atoi(command[2])
			at = 3 + keys
		}
	}
	if at >= len(command) {
		return command
	}
	if _, err := strconv.Atoi(command[at]); err == nil && !numbers {
		return command // a number is no name
	}
	if strings.HasPrefix(command[at], lock.Owner(process)) {
		return command // it is not random
	}
	renamed := append([]string{}, command...)
	renamed[at] = n.name(process, command[at])
	return renamed
}

func (n *names) name(process, value string) string {
	name, known := n.given[own{process, value}]
	if !known {
		n.count[process]++
		name = fmt.Sprint(process, n.count[process])
		n.given[own{process, value}] = name
	}
	return name
}

// restore puts the value back into a reply that is nothing but its name.
func (n *names) restore(reply []byte) []byte {
	for of, name := range n.given {
		if bytes.Equal(reply, bulk(name)) {
			return bulk(of.value)
		}
	}
	return reply
}

func bulk(text string) []byte { return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(text), text) }
