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
	mu      sync.Mutex
	until   time.Time              // when it ends by itself
	choices map[string]map[int]int // by participant and lesson, counted from 1; nil while the room is closed
}

// State is what everybody may know of a room.
type State struct {
	Open         bool      `json:"open"`
	Until        time.Time `json:"until,omitzero"`
	Participants int       `json:"participants"`
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
	if !r.state().Open {
		r.until, r.choices = time.Now().Add(Lifetime), map[string]map[int]int{}
	}
	return r.state()
}

// Close ends the room, and forgets everything.
func (r *Room) Close() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.choices = nil
	return r.state()
}

// State reports whether the room is open.
func (r *Room) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state()
}

// state ends a room whose time is over, and says what there is.
func (r *Room) state() State {
	if !time.Now().Before(r.until) {
		r.choices = nil
	}
	if r.choices == nil {
		return State{}
	}
	return State{Open: true, Until: r.until, Participants: len(r.choices)}
}

// Answer takes a participant's choice in a lesson; it replaces the earlier one.
func (r *Room) Answer(who string, lesson, choice int) error {
	if !participant.MatchString(who) {
		return ErrParticipant
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state()
	if !state.Open {
		return ErrNoRoom
	}
	if r.choices[who] == nil {
		if state.Participants == MostParticipants {
			return ErrFull
		}
		r.choices[who] = map[int]int{}
	}
	r.choices[who][lesson] = choice
	return nil
}

// Counts counts what was chosen in a lesson that has so many choices.
func (r *Room) Counts(lesson, choices int) (Counts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state()
	if !state.Open {
		return Counts{}, ErrNoRoom
	}
	counts := Counts{Lesson: lesson, Counts: make([]int, choices), Participants: state.Participants}
	for _, chosen := range r.choices {
		if choice := chosen[lesson]; choice > 0 {
			counts.Counts[choice-1]++
		}
	}
	return counts, nil
}
