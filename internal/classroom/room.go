package classroom

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"lockstep/internal/lock"
)

// The bounds of a room.
const (
	Lifetime         = 4 * time.Hour
	MostParticipants = 500
	Silence          = 30 * time.Second // after which a participant is no longer waited for
)

// The errors of a room.
var (
	ErrNoRoom      = lock.WithCode("no_room", "no room is open; POST /room opens one")
	ErrFull        = lock.WithCode("room_full", fmt.Sprintf("the room has its %d participants", MostParticipants))
	ErrParticipant = lock.WithCode("no_participant", "participant: the room has none of this name; POST /room/join gives one")
	ErrDropped     = lock.WithCode("dropped", "whoever teaches has taken this address out of the room, until it is closed")
)

// Room is where a class predicts together: it counts how many chose what. It is kept in memory alone, and gone once it is closed.
type Room struct {
	NewID func() string    // makes the names of participants, which nobody can guess
	Now   func() time.Time // the clock

	mu    sync.Mutex
	until time.Time // when it ends by itself
	on    On
	in    map[string]*attendance // by participant; nil while the room is closed
	out   map[string]bool        // addresses that were taken out
}

// attendance is what is known of a participant.
type attendance struct {
	address string      // from which it joined
	seen    time.Time   // last
	choices map[int]int // by lesson, counted from 1
}

// On is what the class is at, as the one who teaches says.
type On struct {
	At       string `json:"at"`       // a lesson's number in two digits; "": nothing yet
	Revealed bool   `json:"revealed"` // the answer to the lesson's question
}

// State is what everybody may know of a room.
type State struct {
	Open         bool      `json:"open"`
	Until        time.Time `json:"until,omitzero"`
	Participants int       `json:"participants"` // who are there
	On
	Answer int   `json:"answer,omitzero"`  // of the lesson, once it is revealed
	Counts []int `json:"counts,omitempty"` // of each choice, once the answer is revealed
	Choice int   `json:"choice,omitzero"`  // of the participant who asks, once the answer is revealed
}

// Counts are how many chose what in a lesson.
type Counts struct {
	Lesson       int   `json:"lesson"`
	Counts       []int `json:"counts"`       // of each choice
	Participants int   `json:"participants"` // who are there, or have chosen
}

// Open opens the room for its lifetime. A room that is open stays as it is.
func (r *Room) Open() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state().Open {
		r.until, r.on = r.Now().Add(Lifetime), On{}
		r.in, r.out = map[string]*attendance{}, map[string]bool{}
	}
	return r.state()
}

// Close ends the room, and forgets everything.
func (r *Room) Close() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.in = nil
	return r.state()
}

// State reports whether the room is open. A participant that asks is there.
func (r *Room) State(who string) (State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	is, state := r.in[who], r.state()
	switch {
	case who == "" || !state.Open:
		return state, nil
	case is == nil:
		return State{}, ErrParticipant
	}
	is.seen = r.Now()
	state = r.state()
	if state.Revealed {
		lesson, _ := strconv.Atoi(state.At) // whoever teaches is at none that is not
		state.Choice = is.choices[lesson]
	}
	return state, nil
}

// state ends a room whose time is over, and says what there is.
func (r *Room) state() State {
	if !r.Now().Before(r.until) {
		r.in = nil
	}
	if r.in == nil {
		return State{}
	}
	state := State{Open: true, Until: r.until, On: r.on}
	for _, is := range r.in {
		if r.hears(is) {
			state.Participants++
		}
	}
	return state
}

// hears reports whether a participant has said something lately.
func (r *Room) hears(is *attendance) bool { return r.Now().Sub(is.seen) < Silence }

// Turn says what the class is at from now on.
func (r *Room) Turn(on On) (State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state().Open {
		return State{}, ErrNoRoom
	}
	r.on = on
	return r.state(), nil
}

// Answer takes a participant's choice in a lesson; it replaces the earlier one.
func (r *Room) Answer(who string, lesson, choice int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state().Open {
		return ErrNoRoom
	}
	is := r.in[who]
	if is == nil {
		return ErrParticipant
	}
	is.seen, is.choices[lesson] = r.Now(), choice
	return nil
}

// Counts counts what was chosen in a lesson that has so many choices, also by who is silent since: a phone sleeps soon. Nobody waits for a
// silent one that has not chosen.
func (r *Room) Counts(lesson, choices int) (Counts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state().Open {
		return Counts{}, ErrNoRoom
	}
	counts := Counts{Lesson: lesson, Counts: make([]int, choices)}
	for _, is := range r.in {
		choice := is.choices[lesson]
		if choice > 0 {
			counts.Counts[choice-1]++
		}
		if choice > 0 || r.hears(is) {
			counts.Participants++
		}
	}
	return counts, nil
}
