package simredis

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	resp "github.com/alicebob/miniredis/v2/server"
)

// conditional is a SET that Redis 8.4 and newer refuse unless the value is, or is not, a certain one. Miniredis does not know it.
type conditionalSet struct {
	key, value                  string
	wantsEqual, returnsOldValue bool     // IFEQ, not IFNE; GET
	rest                        []string // the same SET without the condition
}

// readConditional reads the words after SET, and reports whether there is a condition that Redis would take.
func parseConditionalSet(args []string) (c conditionalSet, is bool) {
	if len(args) < 4 {
		return c, false
	}
	c.key, c.rest = args[0], slices.Clone(args[:2])
	for i := 2; i < len(args); i++ {
		switch word := strings.ToUpper(args[i]); {
		case word == "NX", word == "XX":
			return c, false
		case (word == "IFEQ" || word == "IFNE") && (is || i+1 == len(args)):
			return c, false
		case word == "IFEQ" || word == "IFNE":
			i++
			c.value, c.wantsEqual, is = args[i], word == "IFEQ", true
		default:
			c.returnsOldValue = c.returnsOldValue || word == "GET"
			c.rest = append(c.rest, args[i])
		}
	}
	return c, is
}

// answerConditional answers a SET with a condition. It reports whether it was one.
func (m *Simulator) answerConditionalSet(peer *resp.Peer, args []string) bool {
	c, is := parseConditionalSet(args)
	switch {
	case !is:
		return false
	case m.inTransaction:
		m.recordRefusal(peer, fmt.Errorf("%w: SET with IFEQ or IFNE in a transaction: send it by itself, or from a script", ErrCommand))
		return true
	}
	var reply bytes.Buffer
	asking := resp.NewPeer(bufio.NewWriter(&reply))
	asking.Ctx = peer.Ctx // a script has the server to itself
	m.server.Server().Dispatch(asking, []string{"GET", c.key})
	asking.Flush()
	header, value, _ := strings.Cut(reply.String(), "\r\n")
	value = strings.TrimSuffix(value, "\r\n")
	exists := header != "$-1"
	switch {
	case strings.HasPrefix(header, "-"):
		peer.WriteError(header[1:])
	case c.wantsEqual && (!exists || value != c.value) || !c.wantsEqual && exists && value == c.value:
		if c.returnsOldValue && exists {
			peer.WriteBulk(value)
		} else {
			peer.WriteNull()
		}
	default:
		m.server.Server().Dispatch(peer, append([]string{"SET"}, c.rest...))
	}
	return true
}
