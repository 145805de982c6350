package redistest

import (
	"fmt"
	"slices"
	"strconv"

	"lockstep/internal/explore/bubble/server"
)

// Outcome tells how an actor's work ended, as far as the actor can know.
type Outcome string

// The outcomes of an actor.
const (
	Waiting   Outcome = "waiting"   // the actor has not returned; only Always sees this outcome
	Succeeded Outcome = "succeeded" // the actor returned nil
	Failed    Outcome = "failed"    // the actor returned an error, and its process received every reply
	InDoubt   Outcome = "in doubt"  // the process crashed; or the actor returned an error, and a command or a reply was lost or not waited for
)

// ActorState is the state of an actor when Check or Always is called.
type ActorState struct {
	Actor   string  // name of the actor, such as "A"
	Kind    string  // name of the actor's Kind; empty with System.Actor
	Outcome Outcome // outcome so far; Waiting until the actor has returned or crashed
	Err     error   // error that the actor returned; nil: none
}

// End is the state that Check and Always judge: the contents of Redis, and the outcome of each actor.
type End struct {
	Redis  Redis        // access to the first node
	Actors []ActorState // one for each actor, in the order of System.Kinds
}

// Succeeded returns the number of actors of the given kinds, or of all kinds if none is given, that returned nil.
func (e End) Succeeded(kinds ...string) int { return e.count(Succeeded, kinds) }

// Failed returns the number of actors of the given kinds, or of all kinds if none is given, that returned an error although they received
// every reply.
func (e End) Failed(kinds ...string) int { return e.count(Failed, kinds) }

// InDoubt returns the number of actors of the given kinds, or of all kinds if none is given, whose success is unknown: their process
// crashed, or they returned an error after a command or a reply was lost.
func (e End) InDoubt(kinds ...string) int { return e.count(InDoubt, kinds) }

// count returns the number of actors with an outcome, of the given kinds or, if none is given, of all kinds.
func (e End) count(o Outcome, kinds []string) (n int) {
	for _, actor := range e.Actors {
		if actor.Outcome == o && (len(kinds) == 0 || slices.Contains(kinds, actor.Kind)) {
			n++
		}
	}
	return n
}

// Redis is direct access to a node, for Setup, Check and Always. Its commands take effect at once, and are not steps of the schedule. If
// Redis returns an error, the search fails with it.
type Redis struct {
	server *server.Server // simulated Redis
	node   int            // index of the node, from 0
	fail   func(error)    // records an error that ends the search
}

// Node returns direct access to another node, counted from 0.
func (r Redis) Node(i int) Redis {
	r.node = i
	return r
}

// Do sends a command and returns its reply: nil, a string, an int, or a list of these as []any. If Redis returns an error, Do returns nil.
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

// Int returns the number that a key holds, or 0 if there is no such key.
func (r Redis) Int(key string) int {
	text := r.String(key)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		r.fail(fmt.Errorf("GET %s: %q is not a number", key, text))
	}
	return n
}

// String returns the string that a key holds, or "" if there is no such key.
func (r Redis) String(key string) string {
	text, _ := r.Do("GET", key).(string)
	return text
}

// Exists reports whether the key exists.
func (r Redis) Exists(key string) bool { return r.Do("EXISTS", key) == 1 }
