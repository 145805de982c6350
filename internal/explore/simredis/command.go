package simredis

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	resp "github.com/alicebob/miniredis/v2/server"

	"lockstep/util/lua"
)

// Command is a command, or several, as sent at once. There is one for each text that was ever sent, so that two can be compared, and what
// has to be known of the text is looked for once.
type Command struct {
	text          string
	usesWatch     bool // or ends a transaction
	dependsOnTime bool // its answer may depend on the time of day
	isCacheable   bool // it is one, and does the same on each connection
	usesScripts   bool // it names one that the server has loaded, or has to do with those

	parsed    [][]string // each command's words
	keys      []string   // that they have as such
	malformed error      // or why there are none
	parts     []*Command // of a pipeline: what a server executes one after the other, while others may come between
}

// Size returns how many commands it is.
func (c *Command) CommandCount() int { return len(c.parsed) }

// Text returns what was sent.
func (c *Command) Text() string { return c.text }

// command gives the command that was sent.
func (m *Simulator) command(sent []byte) *Command {
	if known, ok := m.commands[string(sent)]; ok {
		return known
	}
	c := &Command{text: string(sent)}
	var texts []string
	c.parsed, texts, c.malformed = parse(c.text)
	for _, words := range c.parsed {
		resolveKnownScript(words)
	}
	upper := strings.ToUpper(strings.Join(slices.Concat(c.parsed...), " "))
	c.usesWatch = strings.Contains(upper, "WATCH")
	c.dependsOnTime, c.usesScripts = asksForTime(upper), strings.Contains(upper, "EVALSHA") || strings.Contains(upper, "SCRIPT")
	c.isCacheable = c.malformed == nil && len(c.parsed) == 1 && !c.usesWatch && !strings.EqualFold(c.parsed[0][0], "EXEC")
	for _, words := range c.parsed {
		c.keys = append(c.keys, keysOf(strings.ToUpper(words[0]), words[1:])...)
	}
	m.commands[c.text] = c
	for rest := c.parsed; len(rest) > 0 && stepLength(c.parsed) < len(c.parsed); {
		n := stepLength(rest)
		c.parts = append(c.parts, m.command([]byte(strings.Join(texts[:n], ""))))
		rest, texts = rest[n:], texts[n:]
	}
	return c
}

// evaluate makes EVALSHA of a script of package lua the EVAL of its text: a server has run them all before a schedule begins.
func resolveKnownScript(words []string) {
	if len(words) > 1 {
		if script := lua.SentBy(words[0], words[1]); script != "" {
			words[0], words[1] = "EVAL", script
		}
	}
}

// whole returns how many of these commands are one step: those of a transaction, or the first.
func stepLength(commands [][]string) int {
	ends := func(args []string) bool {
		return strings.EqualFold(args[0], "EXEC") || strings.EqualFold(args[0], "DISCARD")
	}
	switch end := slices.IndexFunc(commands, ends); {
	case len(commands) == 0 || !strings.EqualFold(commands[0][0], "MULTI"):
		return 1
	case end < 0:
		return len(commands)
	default:
		return end + 1
	}
}

// timed reports whether a text in capitals has a word in it that asks for the time of day.
func asksForTime(upper string) bool {
	return strings.Contains(upper, "TIME") || strings.Contains(upper, "EXAT") || strings.Contains(upper, "PXAT") ||
		strings.Contains(upper, "EXPIREAT")
}

// parse gives the commands in what was sent at once, and the text of each.
func parse(sent string) (all [][]string, texts []string, _ error) {
	for r := bufio.NewReader(strings.NewReader(sent)); ; {
		message, err := proto.Read(r)
		if errors.Is(err, io.EOF) {
			return all, texts, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("a command that is no RESP: %w", err)
		}
		args, err := proto.ReadStrings(message)
		if err != nil {
			return nil, nil, fmt.Errorf("a command that is no list of strings: %w", err)
		}
		all, texts = append(all, args), append(texts, message)
	}
}

// remember takes down a script that the server has learnt.
func (m *Simulator) recordScript(args []string) {
	if len(args) < 2 {
		return
	}
	script := args[1]
	switch name := strings.ToUpper(args[0]); {
	case name == "SCRIPT" && strings.EqualFold(args[1], "FLUSH"):
		m.wantedScripts, m.loadedScripts = nil, nil
		return
	case name == "SCRIPT" && len(args) > 2 && strings.EqualFold(args[1], "LOAD"):
		script = args[2]
	case name != "EVAL":
		return
	}
	m.wantedScripts, m.loadedScripts = withScript(m.wantedScripts, script), withScript(m.loadedScripts, script)
}

// with adds a script to others, which are in order.
func withScript(scripts []string, script string) []string {
	i, has := slices.BinarySearch(scripts, script)
	if has {
		return scripts
	}
	return slices.Insert(slices.Clone(scripts), i, script)
}

// loadScripts makes the server have the scripts loaded that it is to have, and no others. Most commands do not ask for them.
func (m *Simulator) loadScripts() {
	if slices.Equal(m.loadedScripts, m.wantedScripts) {
		return
	}
	peer := resp.NewPeer(bufio.NewWriter(io.Discard))
	m.server.Server().Dispatch(peer, []string{"SCRIPT", "FLUSH"})
	for _, script := range m.wantedScripts {
		m.server.Server().Dispatch(peer, []string{"SCRIPT", "LOAD", script})
	}
	m.loadedScripts = m.wantedScripts
}
