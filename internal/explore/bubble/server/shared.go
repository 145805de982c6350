package server

import (
	"crypto/sha1" //nolint:gosec // as Redis names scripts
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore/simredis"
)

// Shared is what servers of one run after the other have in common: what each command does to each content, and the scripts. It is
// not safe for concurrent use.
type Shared struct {
	key         string // of the lock
	simulator   *simredis.Simulator
	scripts     map[string]string // by their SHA-1
	scriptNames map[string]string // their names, by their texts
	scriptCall  *regexp.Regexp    // finds what a script calls
}

// NewShared makes one. The caller must Close it.
func NewShared(key string) (*Shared, error) {
	simulator, err := newSimulator()
	if err != nil {
		return nil, err
	}
	return &Shared{
		key: key, simulator: simulator, scripts: map[string]string{}, scriptNames: map[string]string{},
		scriptCall: regexp.MustCompile(`redis\.p?call\(\s*['"](\w+)['"]`),
	}, nil
}

func newSimulator() (*simredis.Simulator, error) {
	simulator, err := simredis.NewSimulator(func(string) bool { return false })
	if err != nil {
		return nil, fmt.Errorf("the memory of Redis: %w", err)
	}
	simulator.ClockStart = simulator.ClockStart.Truncate(time.Second) // as the clock of a bubble, which clients read
	return simulator, nil
}

// Close ends it.
func (s *Shared) Close() { s.simulator.Close() }

// mostRemembered is how many contents and commands are remembered: clients that send random values have new ones in each run.
const maxCacheSize = 1 << 17

// Trim forgets what commands do, between two runs, if that is too much.
func (s *Shared) Trim() error {
	if s.simulator.CacheSize() < maxCacheSize {
		return nil
	}
	simulator, err := newSimulator()
	if err == nil {
		s.simulator.Close()
		s.simulator = simulator
	}
	return err
}

// Scripts is how many scripts it knows.
func (s *Shared) Scripts() int { return len(s.scripts) }

// recordScript keeps the script of an EVAL or a SCRIPT LOAD, as Redis does.
func (s *Shared) recordScript(command []string) {
	var text string
	switch {
	case len(command) > 1 && strings.EqualFold(command[0], "EVAL"):
		text = command[1]
	case len(command) > 2 && strings.EqualFold(command[0], "SCRIPT") && strings.EqualFold(command[1], "LOAD"):
		text = command[2]
	default:
		return
	}
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as Redis names scripts
	s.scripts[hex.EncodeToString(sum[:])] = text
}

// script is the script that a command runs, and whether it runs one. That of an EVALSHA which the server does not know is empty.
func (s *Shared) script(command []string) (text string, isScript bool) {
	if len(command) < 3 {
		return "", false
	}
	switch strings.ToUpper(command[0]) {
	case "EVAL":
		return command[1], true
	case "EVALSHA":
		return s.scripts[strings.ToLower(command[1])], true
	default:
		return "", false
	}
}

// name calls a command by its own name, and one that runs a script by what the script is for: the first thing that it writes.
func (s *Shared) commandName(command []string) string {
	script, isScript := s.script(command)
	if !isScript {
		return strings.ToUpper(command[0])
	}
	name, ok := s.scriptNames[script]
	if !ok {
		name = s.deriveScriptName(script)
		s.scriptNames[script] = name
	}
	return name
}

// text writes a command, with the name of its script instead of the text.
func (s *Shared) commandText(sent []string) string {
	words := slices.Clone(sent)
	if _, isScript := s.script(sent); isScript && len(words) > 3 {
		words = append([]string{"EVAL " + s.commandName(sent)}, words[3:]...)
	}
	return strings.Join(words, " ")
}

func (s *Shared) deriveScriptName(script string) string {
	calls := s.scriptCall.FindAllStringSubmatch(script, -1)
	for _, call := range calls {
		if !isRead(call[1]) {
			return strings.ToUpper(call[1])
		}
	}
	if len(calls) == 0 {
		return "EVAL"
	}
	return strings.ToUpper(calls[0][1])
}

// reads reports whether a command of this name only reads.
func isRead(name string) bool {
	switch strings.ToUpper(name) {
	case "GET", "GETRANGE", "EXISTS", "TTL", "PTTL", "TYPE", "HGET", "HEXISTS", "HGETALL", "LINDEX", "LLEN", "TIME":
		return true
	default:
		return false
	}
}
