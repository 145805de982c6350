package simredis

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	resp "github.com/alicebob/miniredis/v2/server"

	"lockstep/internal/language"
)

// conditionalSet is a SET with a condition on the value, which Redis 8.4 and newer have. Miniredis does not know it.
type conditionalSet struct {
	key             string
	value           string   // value of the condition
	wantsEqual      bool     // the condition is IFEQ, not IFNE
	returnsOldValue bool     // the command has GET
	rest            []string // words after SET, without the condition
}

// parseConditionalSet parses the words after SET, and reports whether there is a condition that Redis accepts.
func parseConditionalSet(args []string) (c conditionalSet, ok bool) {
	if len(args) < 4 {
		return c, false
	}
	c.key, c.rest = args[0], slices.Clone(args[:2])
	for i := 2; i < len(args); i++ {
		switch word := strings.ToUpper(args[i]); {
		case word == "NX", word == "XX":
			return c, false
		case (word == "IFEQ" || word == "IFNE") && (ok || i+1 == len(args)):
			return c, false
		case word == "IFEQ" || word == "IFNE":
			i++
			c.value, c.wantsEqual, ok = args[i], word == "IFEQ", true
		default:
			c.returnsOldValue = c.returnsOldValue || word == "GET"
			c.rest = append(c.rest, args[i])
		}
	}
	return c, ok
}

// answerConditionalSet answers a SET with a condition, and reports whether the SET has one.
func (sim *Simulator) answerConditionalSet(peer *resp.Peer, args []string) bool {
	c, ok := parseConditionalSet(args)
	switch {
	case !ok:
		return false
	case sim.inTransaction:
		sim.recordRefusal(peer, errUnsupported("SET with IFEQ or IFNE in a transaction",
			language.Both("send it by itself, or from a script", "请单独发送，或放进脚本")))
		return true
	}
	var reply bytes.Buffer
	asking := resp.NewPeer(bufio.NewWriter(&reply))
	asking.Ctx = peer.Ctx // a script has locked the server, and Dispatch learns that from the context
	sim.server.Server().Dispatch(asking, []string{"GET", c.key})
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
		sim.server.Server().Dispatch(peer, append([]string{"SET"}, c.rest...))
	}
	return true
}
