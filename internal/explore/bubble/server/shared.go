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
	key     string // of the lock
	memory  *simredis.Simulator
	scripts map[string]string // by their SHA-1
	verbs   map[string]string // their names, by their texts
	calls   *regexp.Regexp    // finds what a script calls
}

// NewShared makes one. The caller must Close it.
func NewShared(key string) (*Shared, error) {
	memory, err := newMemory()
	if err != nil {
		return nil, err
	}
	return &Shared{
		key: key, memory: memory, scripts: map[string]string{}, verbs: map[string]string{},
		calls: regexp.MustCompile(`redis\.p?call\(\s*['"](\w+)['"]`),
	}, nil
}

func newMemory() (*simredis.Simulator, error) {
	memory, err := simredis.NewSimulator(func(string) bool { return false })
	if err != nil {
		return nil, fmt.Errorf("the memory of Redis: %w", err)
	}
	memory.ClockStart = memory.ClockStart.Truncate(time.Second) // as the clock of a bubble, which clients read
	return memory, nil
}

// Close ends it.
func (s *Shared) Close() { s.memory.Close() }

// mostRemembered is how many contents and commands are remembered: clients that send random values have new ones in each run.
const mostRemembered = 1 << 17

// Trim forgets what commands do, between two runs, if that is too much.
func (s *Shared) Trim() error {
	if s.memory.CacheSize() < mostRemembered {
		return nil
	}
	memory, err := newMemory()
	if err == nil {
		s.memory.Close()
		s.memory = memory
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
func (s *Shared) script(command []string) (text string, runs bool) {
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
func (s *Shared) name(command []string) string {
	script, runs := s.script(command)
	if !runs {
		return strings.ToUpper(command[0])
	}
	name, known := s.verbs[script]
	if !known {
		name = s.verb(script)
		s.verbs[script] = name
	}
	return name
}

// text writes a command, with the name of its script instead of the text.
func (s *Shared) text(sent []string) string {
	words := slices.Clone(sent)
	if _, runs := s.script(sent); runs && len(words) > 3 {
		words = append([]string{"EVAL " + s.name(sent)}, words[3:]...)
	}
	return strings.Join(words, " ")
}

func (s *Shared) verb(script string) string {
	calls := s.calls.FindAllStringSubmatch(script, -1)
	for _, call := range calls {
		if !reads(call[1]) {
			return strings.ToUpper(call[1])
		}
	}
	if len(calls) == 0 {
		return "EVAL"
	}
	return strings.ToUpper(calls[0][1])
}

// reads reports whether a command of this name only reads.
func reads(name string) bool {
	switch strings.ToUpper(name) {
	case "GET", "GETRANGE", "EXISTS", "TTL", "PTTL", "TYPE", "HGET", "HEXISTS", "HGETALL", "LINDEX", "LLEN", "TIME":
		return true
	default:
		return false
	}
}
