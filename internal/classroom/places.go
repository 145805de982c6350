package classroom

import (
	"cmp"
	"maps"
	"slices"
)

// Joined is a participant's place: a name to speak by, which nobody else knows.
type Joined struct {
	Participant string `json:"participant"`
}

// Participants are how many of an address are in the room.
type Participants struct {
	Address string `json:"address"` // from which they joined
	N       int    `json:"n"`
}

// Join gives a new participant a place, which comes from an address. In a full room, it gets that of a participant of the address with most
// of them: of the one that was not there for longest. If all addresses have about as many, the room is full.
func (r *Room) Join(address string) (Joined, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.state().Open:
		return Joined{}, ErrNoRoom
	case r.out[address]:
		return Joined{}, ErrDropped
	case len(r.in) >= MostParticipants && !r.makeRoom(address):
		return Joined{}, ErrFull
	}
	is := Joined{r.NewID()}
	r.in[is.Participant] = &attendance{address, r.Now(), map[int]int{}}
	return is, nil
}

// Leave gives a participant's place back. What it did is forgotten.
func (r *Room) Leave(who string) (State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.state().Open:
		return State{}, ErrNoRoom
	case r.in[who] == nil:
		return State{}, ErrParticipant
	}
	delete(r.in, who)
	return r.state(), nil
}

// makeRoom takes a place from the address with most participants. It reports false if the new one's has about as many, and is another.
func (r *Room) makeRoom(address string) bool {
	has, most := r.addresses(), address
	for other, n := range has {
		if n > max(has[most], has[address]+1) {
			most = other
		}
	}
	if has[most] == 0 {
		return false
	}
	of := slices.DeleteFunc(slices.Collect(maps.Keys(r.in)), func(who string) bool { return r.in[who].address != most })
	delete(r.in, slices.MinFunc(of, func(a, b string) int { return r.in[a].seen.Compare(r.in[b].seen) }))
	return true
}

// addresses counts the participants of each address.
func (r *Room) addresses() map[string]int {
	has := map[string]int{}
	for _, is := range r.in {
		has[is.address]++
	}
	return has
}

// Participants counts them by address, that with most of them first.
func (r *Room) Participants() ([]Participants, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state().Open {
		return nil, ErrNoRoom
	}
	all := []Participants{}
	for address, n := range r.addresses() {
		all = append(all, Participants{address, n})
	}
	slices.SortFunc(all, func(a, b Participants) int { return cmp.Or(b.N-a.N, cmp.Compare(a.Address, b.Address)) })
	return all, nil
}

// Drop takes the participants of an address out of the room, and lets none from there in any more. What they did is forgotten.
func (r *Room) Drop(address string) (State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state().Open {
		return State{}, ErrNoRoom
	}
	before := len(r.in)
	maps.DeleteFunc(r.in, func(_ string, is *attendance) bool { return is.address == address })
	if len(r.in) == before {
		return State{}, ErrParticipant
	}
	r.out[address] = true
	return r.state(), nil
}
