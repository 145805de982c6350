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

// Command is what a client sent at once: one command or several. The same bytes always have the same *Command, so pointers can be compared,
// and the bytes are parsed only once.
type Command struct {
	text          string // bytes that were sent
	usesWatch     bool   // contains WATCH, or ends a transaction that may watch
	dependsOnTime bool   // the answer may depend on the time of day
	isCacheable   bool   // a single command whose answer does not depend on the connection
	usesScripts   bool   // contains EVALSHA or SCRIPT, so that the answer depends on the loaded scripts

	parsed    [][]string // words of each command
	keys      []string   // arguments that are keys, of all commands
	malformed error      // reason why the bytes could not be parsed; nil: they could
	parts     []*Command // steps of a pipeline, between which other clients' commands may come; nil: the command is one step
}

// CommandCount returns the number of commands.
func (cmd *Command) CommandCount() int { return len(cmd.parsed) }

// Text returns the bytes that were sent.
func (cmd *Command) Text() string { return cmd.text }

// command returns the Command for these bytes, and parses them the first time.
func (sim *Simulator) command(sent []byte) *Command {
	if command, ok := sim.commands[string(sent)]; ok {
		return command
	}
	c := &Command{text: string(sent)}
	var texts []string
	c.parsed, texts, c.malformed = parse(c.text)
	for _, words := range c.parsed {
		resolveKnownScript(words)
	}
	upper := strings.ToUpper(strings.Join(slices.Concat(c.parsed...), " "))
	c.usesWatch = strings.Contains(upper, "WATCH")
	c.dependsOnTime, c.usesScripts = isTimeDependent(upper), strings.Contains(upper, "EVALSHA") || strings.Contains(upper, "SCRIPT")
	c.isCacheable = c.malformed == nil && len(c.parsed) == 1 && !c.usesWatch && !strings.EqualFold(c.parsed[0][0], "EXEC")
	for _, words := range c.parsed {
		c.keys = append(c.keys, keysOf(strings.ToUpper(words[0]), words[1:])...)
	}
	sim.commands[c.text] = c
	for rest := c.parsed; len(rest) > 0 && stepLength(c.parsed) < len(c.parsed); {
		n := stepLength(rest)
		c.parts = append(c.parts, sim.command([]byte(strings.Join(texts[:n], ""))))
		rest, texts = rest[n:], texts[n:]
	}
	return c
}

// resolveKnownScript replaces EVALSHA of a script of package lua by EVAL of its text: a server has loaded these scripts before a schedule
// begins.
func resolveKnownScript(words []string) {
	if len(words) > 1 {
		if script := lua.SentScript(words[0], words[1]); script != "" {
			words[0], words[1] = "EVAL", script
		}
	}
}

// stepLength returns the number of commands, from the first on, that are one step: those of a transaction, or one.
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

// isTimeDependent reports whether a text in upper case has a word that depends on the time of day.
func isTimeDependent(upper string) bool {
	return strings.Contains(upper, "TIME") || strings.Contains(upper, "EXAT") || strings.Contains(upper, "PXAT") ||
		strings.Contains(upper, "EXPIREAT")
}

// parse splits what was sent at once into commands, and returns the words and the text of each.
func parse(sent string) (all [][]string, texts []string, _ error) {
	for r := bufio.NewReader(strings.NewReader(sent)); ; {
		message, err := proto.Read(r)
		if errors.Is(err, io.EOF) {
			return all, texts, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("a command is not RESP: %w", err)
		}
		args, err := proto.ReadStrings(message)
		if err != nil {
			return nil, nil, fmt.Errorf("a command is not a list of strings: %w", err)
		}
		all, texts = append(all, args), append(texts, message)
	}
}

// recordScript updates the lists of scripts after a command that may load a script or flush all.
func (sim *Simulator) recordScript(args []string) {
	if len(args) < 2 {
		return
	}
	script := args[1]
	switch name := strings.ToUpper(args[0]); {
	case name == "SCRIPT" && strings.EqualFold(args[1], "FLUSH"):
		sim.wantedScripts, sim.loadedScripts = nil, nil
		return
	case name == "SCRIPT" && len(args) > 2 && strings.EqualFold(args[1], "LOAD"):
		script = args[2]
	case name != "EVAL":
		return
	}
	sim.wantedScripts, sim.loadedScripts = withScript(sim.wantedScripts, script), withScript(sim.loadedScripts, script)
}

// withScript returns the sorted scripts with another one added.
func withScript(scripts []string, script string) []string {
	i, found := slices.BinarySearch(scripts, script)
	if found {
		return scripts
	}
	return slices.Insert(slices.Clone(scripts), i, script)
}

// loadScripts makes the embedded server load exactly wantedScripts. Most commands need no loaded scripts.
func (sim *Simulator) loadScripts() {
	if slices.Equal(sim.loadedScripts, sim.wantedScripts) {
		return
	}
	peer := resp.NewPeer(bufio.NewWriter(io.Discard))
	sim.server.Server().Dispatch(peer, []string{"SCRIPT", "FLUSH"})
	for _, script := range sim.wantedScripts {
		sim.server.Server().Dispatch(peer, []string{"SCRIPT", "LOAD", script})
	}
	sim.loadedScripts = sim.wantedScripts
}
