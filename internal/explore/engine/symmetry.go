package engine

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"lockstep/internal/dao"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// Symmetry reduction: actors that start alike differ only in name, so a state in which two of them have changed places is the same state. A
// state hash is therefore computed in an order of the actors that follows from their histories, and names are replaced by positions in
// that order.

// Order is an order of the actors for a state hash.
type Order struct {
	Actors        []int  // index of the actor at each position
	Places        []byte // position of each actor, by index
	renamesActors bool   // names are replaced by positions
}

// minInterchangeable is the smallest number of actors that count as interchangeable. With two actors both orders are explored, so that a
// lock that compares names is found.
const minInterchangeable = 3

// startsInOrder reports whether actors that start alike start in the order of their names.
func (s *Setup) startsInOrder() bool {
	return !s.EverySymmetry && !s.EveryStart && s.Scenario.Actors >= minInterchangeable
}

// hasInterchangeableActors reports whether states count as the same if they differ only in the actors' names.
func (s *Setup) hasInterchangeableActors() bool {
	return s.startsInOrder() && s.Scenario.HasInterchangeableProcesses() && s.Scenario.SalesEach() == 1 && !s.Cluster.OnNodes()
}

// actorName returns the name of an actor.
func (s *Setup) actorName(actor int) string { return string(s.FirstActorName + rune(actor)) }

// identityOrder returns the order of the actors by index, in which names stay as they are.
func (w *stateWriter) identityOrder() Order {
	o := Order{Places: make([]byte, len(w.x.actors)), Actors: make([]int, len(w.x.actors))}
	for i := range o.Actors {
		o.Actors[i], o.Places[i] = i, byte(i) //nolint:gosec // fits: few values
	}
	return o
}

// canonicalOrder returns the order in which equivalent states have the same hash: interchangeable actors are sorted by state.
func (w *stateWriter) canonicalOrder() Order {
	o := w.identityOrder()
	if !w.x.hasInterchangeableActors() {
		return o
	}
	o.renamesActors = true
	slices.SortStableFunc(o.Actors, func(a, b int) int { return w.compare(w.x.actors[a], w.x.actors[b]) })
	for place, actor := range o.Actors {
		o.Places[actor] = byte(place) //nolint:gosec // fits: few values
	}
	return o
}

// compare orders actors by what distinguishes them: their histories, and for those without a future, what Redis and the judge still hold
// of them.
func (w *stateWriter) compare(a, b *Actor) int {
	p, q := a.Process, b.Process
	noFuture := p.hasNoFuture()
	c := cmp.Or(compareBools(a.triesOnce, b.triesOnce), compareBools(a.started, b.started), compareBools(noFuture, q.hasNoFuture()))
	if c != 0 {
		return c
	}
	if !noFuture {
		if c = cmp.Or(cmp.Compare(p.hash[0], q.hash[0]), cmp.Compare(p.hash[1], q.hash[1])); c != 0 {
			return c
		}
	}
	if c = strings.Compare(a.stateWithOwnName(), b.stateWithOwnName()); c != 0 {
		return c
	}
	return bytes.Compare(w.x.Judge.AppendActor(nil, a.Index), w.x.Judge.AppendActor(nil, b.Index))
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// stateWithOwnName returns the contents of Redis with the actors' names replaced: a has a name of its own, and all others share one.
func (a *Actor) stateWithOwnName() string {
	places := make([]byte, len(a.Process.x.actors))
	places[a.Index] = 1
	return Order{Places: places, renamesActors: true}.contentOf(a.Process.x, a.Process.x.Cluster.MainState())
}

// contentOf returns the text of a server's state, with positions for names.
func (o Order) contentOf(x *Execution, s *simredis.State) string {
	if !o.renamesActors {
		return s.Text
	}
	return s.RenamedText(string(o.Places), func(key, text string) string {
		if dao.IsKey(key) { // there, an order's id is the bare name of the actor
			text = lock.Owner(text)
		}
		return string(o.rename(x, []byte(text)))
	})
}

// rename replaces names by positions, in place, if o renames actors.
func (o Order) rename(x *Execution, text []byte) []byte {
	if !o.renamesActors {
		return text
	}
	return renameActors(text, x.FirstActorName, len(x.actors), func(actor int) byte { return o.Places[actor] })
}

// renameActors replaces the names of actors in text, in place. A name is one of the letters from first on that follows lock.Owner("") and
// is not part of a longer word.
func renameActors(text []byte, first rune, names int, number func(actor int) byte) []byte {
	before := []byte(lock.Owner(""))
	for at := 0; ; {
		i := bytes.Index(text[at:], before)
		if i < 0 {
			return text
		}
		at += i + len(before)
		if at == len(text) {
			return text
		}
		actor := int(rune(text[at]) - first)
		if actor >= 0 && actor < names && (at+1 == len(text) || !isWordByte(text[at+1])) {
			text[at] = number(actor)
		}
	}
}

// isWordByte reports whether a longer word could continue with b.
func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
