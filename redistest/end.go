package redistest

import (
	"fmt"
	"slices"
	"strconv"

	"lockstep/internal/explore/bubble/server"
)

// Outcome is what an actor has been told.
type Outcome string

// The outcomes.
const (
	Waiting   Outcome = "waiting"   // it has not come back; only Always sees that
	Succeeded Outcome = "succeeded" // its error was nil
	Failed    Outcome = "failed"    // its error was not nil, and its process had every reply
	InDoubt   Outcome = "in doubt"  // its process has crashed; or it failed, and a command or a reply was lost or not waited for
)

// ActorState is what became of an actor.
type ActorState struct {
	Actor   string
	Kind    string // "" if all are alike
	Outcome Outcome
	Err     error
}

// End is what Check and Always look at.
type End struct {
	Redis  Redis
	Actors []ActorState // in the order in which they were named
}

// Succeeded counts the actors that were told that all is well: of these kinds, or of all if none is named.
func (e End) Succeeded(kinds ...string) int { return e.count(Succeeded, kinds) }

// Failed counts those that were told that it failed, and that had every reply.
func (e End) Failed(kinds ...string) int { return e.count(Failed, kinds) }

// InDoubt counts those of which nobody can know: a reply was lost, or they have crashed.
func (e End) InDoubt(kinds ...string) int { return e.count(InDoubt, kinds) }

func (e End) count(o Outcome, kinds []string) (n int) {
	for _, actor := range e.Actors {
		if actor.Outcome == o && (len(kinds) == 0 || slices.Contains(kinds, actor.Kind)) {
			n++
		}
	}
	return n
}

// Redis is a node, as nobody's client sees it: its commands take effect at once, and are no steps of a schedule. What goes wrong fails the
// test.
type Redis struct {
	server *server.Server
	node   int
	fail   func(error)
}

// Node returns another node. Nodes count from 0.
func (r Redis) Node(i int) Redis {
	r.node = i
	return r
}

// Do sends a command and returns its reply: nil, a string, an int, or a list of these as []any. An error of Redis fails the test.
func (r Redis) Do(command ...any) any {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = fmt.Sprint(word)
	}
	reply, err := r.server.Do(r.node, words...)
	if err != nil {
		r.fail(err)
		return nil
	}
	return reply
}

// Int returns the number that a key holds, 0 if there is no such key.
func (r Redis) Int(key string) int {
	text := r.String(key)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		r.fail(fmt.Errorf("GET %s: %q is no number", key, text))
	}
	return n
}

// String returns the text that a key holds, "" if there is no such key.
func (r Redis) String(key string) string {
	text, _ := r.Do("GET", key).(string)
	return text
}

// Exists reports whether there is such a key.
func (r Redis) Exists(key string) bool { return r.Do("EXISTS", key) == 1 }
