package classroom

import (
	"cmp"
	"maps"
	"slices"
)

// JoinReply is the reply to a new participant.
type JoinReply struct {
	Participant string `json:"participant"` // secret that identifies the participant in later requests
}

// AddressCount is the number of participants from one client address.
type AddressCount struct {
	Address string `json:"address"` // client address
	Count   int    `json:"n"`       // number of participants from the address
}

// Join adds a participant from a client address. In a full session, the new participant replaces a participant of the address with the
// most participants: the one that has been silent for longest. Join returns ErrFull if the new address has no participant and every other
// address has at most one.
func (s *Session) Join(address string) (JoinReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.state().Open:
		return JoinReply{}, ErrClosed
	case s.dropped[address]:
		return JoinReply{}, ErrDropped
	case len(s.participants) >= MaxParticipants && !s.makeRoomFor(address):
		return JoinReply{}, ErrFull
	}
	id := s.NewID()
	s.participants[id] = &participant{address, s.Now(), map[int]int{}}
	return JoinReply{id}, nil
}

// Leave removes a participant and its answers.
func (s *Session) Leave(id string) (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.state().Open:
		return State{}, ErrClosed
	case s.participants[id] == nil:
		return State{}, ErrParticipant
	}
	delete(s.participants, id)
	return s.state(), nil
}

// makeRoomFor removes a participant, so that one from address can join, and reports whether it did. It chooses the address with the most
// participants, if that has at least two more than address; otherwise address itself. Of the participants there, it removes the one that
// has been silent for longest. It removes none if there is none.
func (s *Session) makeRoomFor(address string) bool {
	counts, largest := s.countByAddress(), address
	for other, n := range counts {
		if n > max(counts[largest], counts[address]+1) {
			largest = other
		}
	}
	if counts[largest] == 0 {
		return false
	}
	ids := slices.DeleteFunc(slices.Collect(maps.Keys(s.participants)), func(id string) bool {
		return s.participants[id].address != largest
	})
	delete(s.participants, slices.MinFunc(ids, func(a, b string) int {
		return s.participants[a].lastSeen.Compare(s.participants[b].lastSeen)
	}))
	return true
}

// countByAddress returns the number of participants of each address.
func (s *Session) countByAddress() map[string]int {
	counts := map[string]int{}
	for _, p := range s.participants {
		counts[p.address]++
	}
	return counts
}

// Participants returns the number of participants of each address, largest numbers first.
func (s *Session) Participants() ([]AddressCount, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state().Open {
		return nil, ErrClosed
	}
	all := []AddressCount{}
	for address, n := range s.countByAddress() {
		all = append(all, AddressCount{address, n})
	}
	slices.SortFunc(all, func(a, b AddressCount) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Address, b.Address)) })
	return all, nil
}

// Drop removes the participants of an address and their answers. Until the session is closed, Join refuses the address.
func (s *Session) Drop(address string) (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state().Open {
		return State{}, ErrClosed
	}
	before := len(s.participants)
	maps.DeleteFunc(s.participants, func(_ string, p *participant) bool { return p.address == address })
	if len(s.participants) == before {
		return State{}, ErrParticipant
	}
	s.dropped[address] = true
	return s.state(), nil
}
