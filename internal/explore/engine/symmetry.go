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

// Actors that start alike differ by name alone. So a state in which two of them have changed places is the same state. A fingerprint is
// therefore taken in an order of the actors that follows from what happened to each, and names stand in it as places in that order.

// Order is such an order of the actors.
type Order struct {
	Actors        []int  // by their places: the index of each
	Places        []byte // of each, by its index
	renamesActors bool   // names are to be replaced by places
}

// fewestAlike is from how many actors on names do not matter. Of two, both orders are explored: so code is found out that compares names.
const minInterchangeable = 3

// inOrder reports whether actors that start alike start in the order of their names.
func (s *Setup) startsInOrder() bool {
	return !s.EverySymmetry && !s.EveryStart && s.Scenario.Actors >= minInterchangeable
}

// alike reports whether actors count as the same if they differ by name alone.
func (s *Setup) hasInterchangeableActors() bool {
	return s.startsInOrder() && s.Scenario.HasInterchangeableProcesses() && s.Scenario.SalesEach() == 1 && !s.Cluster.OnNodes()
}

// named returns the name of an actor.
func (s *Setup) actorName(actor int) string { return string(s.FirstActorName + rune(actor)) }

// unsorted returns the order of their indexes, in which names stay names.
func (w *stateWriter) identityOrder() Order {
	o := Order{Places: make([]byte, len(w.x.actors)), Actors: make([]int, len(w.x.actors))}
	for i := range o.Actors {
		o.Actors[i], o.Places[i] = i, byte(i) //nolint:gosec // they are few
	}
	return o
}

// order returns the order of the actors as they are now.
func (w *stateWriter) order() Order {
	o := w.identityOrder()
	if !w.x.hasInterchangeableActors() {
		return o
	}
	o.renamesActors = true
	slices.SortStableFunc(o.Actors, func(a, b int) int { return w.compare(w.x.actors[a], w.x.actors[b]) })
	for place, actor := range o.Actors {
		o.Places[actor] = byte(place) //nolint:gosec // they are few
	}
	return o
}

// compare tells apart actors to whom different things have happened, and those to whom nothing more can happen by what Redis holds of them.
func (w *stateWriter) compare(a, b *Actor) int {
	p, q := a.Process, b.Process
	gone := p.hasNoFuture()
	if c := cmp.Or(compareBools(a.triesOnce, b.triesOnce), compareBools(a.started, b.started), compareBools(gone, q.hasNoFuture())); c != 0 {
		return c
	}
	if !gone {
		if c := cmp.Or(cmp.Compare(p.hash[0], q.hash[0]), cmp.Compare(p.hash[1], q.hash[1])); c != 0 {
			return c
		}
	}
	if c := strings.Compare(a.stateWithOwnName(), b.stateWithOwnName()); c != 0 {
		return c
	}
	return bytes.Compare(w.x.Judge.AppendActor(nil, a.Index), w.x.Judge.AppendActor(nil, b.Index))
}

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

// mentioned returns what Redis holds, with no names but one.
func (a *Actor) stateWithOwnName() string {
	places := make([]byte, len(a.Process.x.actors))
	places[a.Index] = 1
	return Order{Places: places, renamesActors: true}.contentOf(a.Process.x, a.Process.x.Cluster.MainState())
}

// content returns what a server holds, with places for names.
func (o Order) contentOf(x *Execution, s *simredis.State) string {
	if !o.renamesActors {
		return s.Text
	}
	return s.RenamedText(string(o.Places), func(key, text string) string {
		if dao.IsKey(key) { // there, an order's id is a name by itself
			text = lock.Owner(text)
		}
		return string(o.rename(x, []byte(text)))
	})
}

// rename puts places for names.
func (o Order) rename(x *Execution, text []byte) []byte {
	if !o.renamesActors {
		return text
	}
	return renameActors(text, x.FirstActorName, len(x.actors), func(actor int) byte { return o.Places[actor] })
}

// rename puts numbers into the place of names: of the letters, from the first on, that follow what an owner begins with, and end there.
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

// isWordByte reports whether a name could go on with this.
func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
