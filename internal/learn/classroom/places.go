package classroom

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Joined is a participant's place: a name to speak by, which nobody else knows, and a badge, by which the board calls it.
type Joined struct {
	Participant string `json:"participant"`
	Badge       int    `json:"badge"`
}

// Participant is what whoever teaches sees of one.
type Participant struct {
	Badge   int     `json:"badge"`
	Address string  `json:"address"` // from which it joined
	Answers int     `json:"answers"`
	Levels  int     `json:"levels"` // that it has solved
	Idle    float64 `json:"idle_s"` // since it was there
}

// Join gives a new participant a place, which comes from an address. In a full room, it gets that of a participant of the address with most
// of them: of one that has solved nothing, if there is one, and that was not there for longest. If all addresses have about as many, the
// room is full.
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
	is := Joined{Participant: r.NewID()}
	is.Badge = r.badge(is.Participant)
	r.in[is.Participant] = &attendance{is.Badge, address, time.Now(), map[int]int{}, map[string]solution{}}
	return is, nil
}

// Find fails if there is no such participant.
func (r *Room) Find(who string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.attend(who)
	return err
}

// makeRoom takes a place from the address with most participants. It reports false if the new one's has about as many, and is another.
func (r *Room) makeRoom(address string) bool {
	has := map[string]int{}
	for _, is := range r.in {
		has[is.address]++
	}
	most := address
	for other, n := range has {
		if n > max(has[most], has[address]+1) {
			most = other
		}
	}
	if has[most] == 0 {
		return false
	}
	of := slices.DeleteFunc(slices.Collect(maps.Keys(r.in)), func(who string) bool { return r.in[who].address != most })
	delete(r.in, slices.MinFunc(of, func(a, b string) int {
		x, y := r.in[a], r.in[b]
		return cmp.Or(min(len(x.levels), 1)-min(len(y.levels), 1), x.seen.Compare(y.seen))
	}))
	return true
}

// badge returns one that nobody has: there are more than participants.
func (r *Room) badge(who string) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(who)) // it takes everything
	badge := int(hash.Sum32() % MostBadges)
	for taken := func(is *attendance) bool { return is.badge == badge }; slices.ContainsFunc(slices.Collect(maps.Values(r.in)), taken); {
		badge = (badge + 1) % MostBadges
	}
	return badge
}

// Participants lists them, those of the address with most of them first.
func (r *Room) Participants() ([]Participant, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state().Open {
		return nil, ErrNoRoom
	}
	all, has := []Participant{}, map[string]int{}
	for _, is := range r.in {
		has[is.address]++
		idle := time.Since(is.seen).Round(time.Millisecond).Seconds()
		all = append(all, Participant{is.badge, is.address, len(is.choices), len(is.levels), idle})
	}
	slices.SortFunc(all, func(a, b Participant) int {
		return cmp.Or(has[b.Address]-has[a.Address], cmp.Compare(a.Address, b.Address), a.Badge-b.Badge)
	})
	return all, nil
}

// Drop takes the participant with this badge out of the room, or all of an address, and lets none from there in any more. What they did is
// forgotten.
func (r *Room) Drop(who string) (State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state().Open {
		return State{}, ErrNoRoom
	}
	badge, err := strconv.Atoi(who)
	before := len(r.in)
	maps.DeleteFunc(r.in, func(_ string, is *attendance) bool { return err == nil && is.badge == badge || is.address == who })
	if len(r.in) == before {
		return State{}, ErrParticipant
	}
	r.out[who] = r.out[who] || err != nil
	return r.state(), nil
}
