package classroom

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"lockstep/internal/lock"
)

// The bounds of a room.
const (
	Lifetime         = 4 * time.Hour
	MostParticipants = 500
)

// The errors of a room.
var (
	ErrNoRoom      = lock.WithCode("no_room", "no room is open; POST /room opens one")
	ErrFull        = lock.WithCode("room_full", fmt.Sprintf("the room has its %d participants", MostParticipants))
	ErrParticipant = lock.WithCode("bad_request", "participant: want 16 to 64 letters or digits, made by chance")
)

// A participant is a name that the browser made by chance, and nothing else.
var participant = regexp.MustCompile(`^[0-9A-Za-z-]{16,64}$`)

// Room is where a class predicts: it counts who chose what. It is kept in memory alone, and gone once it is closed.
type Room struct {
	mu  sync.Mutex
	now *session // nil: it is closed
}

// session is a room from its opening to its end.
type session struct {
	until   time.Time
	end     *time.Timer
	choices map[string]map[int]int // by participant and lesson, counted from 1
}

// State is what everybody may know of a room.
type State struct {
	Open         bool       `json:"open"`
	Until        *time.Time `json:"until,omitempty"`
	Participants int        `json:"participants"`
}

// Counts are how many chose what in a lesson.
type Counts struct {
	Lesson       int   `json:"lesson"`
	Counts       []int `json:"counts"` // of each choice
	Participants int   `json:"participants"`
}

// Open opens the room for its lifetime. A room that is open stays as it is.
func (r *Room) Open() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		s := &session{until: time.Now().Add(Lifetime), choices: map[string]map[int]int{}}
		s.end = time.AfterFunc(Lifetime, func() { r.expire(s) })
		r.now = s
	}
	return r.state()
}

// expire closes the room, if it is still this one.
func (r *Room) expire(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == s {
		r.now = nil
	}
}

// Close ends the room, and forgets everything.
func (r *Room) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		r.now.end.Stop()
		r.now = nil
	}
}

// State reports whether the room is open.
func (r *Room) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state()
}

func (r *Room) state() State {
	if r.now == nil {
		return State{}
	}
	return State{Open: true, Until: &r.now.until, Participants: len(r.now.choices)}
}

// Answer takes a participant's choice in a lesson; it replaces the earlier one.
func (r *Room) Answer(who string, lesson, choice int) error {
	if !participant.MatchString(who) {
		return ErrParticipant
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		return ErrNoRoom
	}
	chosen, known := r.now.choices[who]
	if !known {
		if len(r.now.choices) == MostParticipants {
			return ErrFull
		}
		chosen = map[int]int{}
		r.now.choices[who] = chosen
	}
	chosen[lesson] = choice
	return nil
}

// Counts counts what was chosen in a lesson that has so many choices.
func (r *Room) Counts(lesson, choices int) (Counts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		return Counts{}, ErrNoRoom
	}
	counts := Counts{Lesson: lesson, Counts: make([]int, choices), Participants: len(r.now.choices)}
	for _, chosen := range r.now.choices {
		if choice := chosen[lesson]; choice > 0 {
			counts.Counts[choice-1]++
		}
	}
	return counts, nil
}
