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

// Shared is the data that the servers of successive runs have in common: the cache of command effects, and the known scripts. It is not
// safe for concurrent use.
type Shared struct {
	key         string              // key of the lock; "": none
	simulator   *simredis.Simulator // cache of command effects
	scripts     map[string]string   // texts of the known scripts, by hexadecimal SHA-1
	scriptNames map[string]string   // names for schedules, by script text
	scriptCall  *regexp.Regexp      // matches a redis.call or redis.pcall; the group is the command's name
}

// NewShared returns the shared data for locks with the given key; "": no lock is observed. The caller must Close it.
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

// newSimulator starts a simulator with an empty cache.
func newSimulator() (*simredis.Simulator, error) {
	simulator, err := simredis.NewSimulator(func(string) bool { return false })
	if err != nil {
		return nil, fmt.Errorf("starting the simulated Redis: %w", err)
	}
	simulator.ClockStart = simulator.ClockStart.Truncate(time.Second) // A bubble's clock, which the clients read, starts at a full second.
	return simulator, nil
}

// Close stops the simulator.
func (s *Shared) Close() { s.simulator.Close() }

// maxCacheSize is the number of cached command effects after which the cache is discarded. Clients that send random values add new ones in
// every run, so the cache would grow without limit.
const maxCacheSize = 1 << 17

// Trim discards a cache that has grown too large. It must be called between two runs.
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

// Scripts returns the number of known scripts.
func (s *Shared) Scripts() int { return len(s.scripts) }

// recordScript stores the script of an EVAL or a SCRIPT LOAD, as Redis does.
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

// script returns the text of the script that a command runs, which is empty for an unknown EVALSHA. isScript is false if the command does
// not run a script.
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

// commandName returns the name of a command; for a command that runs a script, the script's name.
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

// commandText joins the words of a command, with a script's name instead of its text.
func (s *Shared) commandText(command []string) string {
	words := slices.Clone(command)
	if _, isScript := s.script(command); isScript && len(words) > 3 {
		words = append([]string{"EVAL " + s.commandName(command)}, words[3:]...)
	}
	return strings.Join(words, " ")
}

// deriveScriptName names a script by the first command in it that writes, or else by its first command.
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

// isRead reports whether the named command only reads.
func isRead(name string) bool {
	switch strings.ToUpper(name) {
	case "GET", "GETRANGE", "EXISTS", "TTL", "PTTL", "TYPE", "HGET", "HEXISTS", "HGETALL", "LINDEX", "LLEN", "TIME":
		return true
	default:
		return false
	}
}
