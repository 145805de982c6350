package classroom

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"lockstep/internal/lock"
)

// The bounds of a session.
const (
	Lifetime        = 4 * time.Hour    // time after which a session closes by itself: longer than a class lasts
	MaxParticipants = 500              // capacity of a session: more than a lecture hall seats
	Silence         = 30 * time.Second // time without a request after which the class no longer waits for a participant's answer
)

// The errors of a session.
var (
	// ErrClosed is returned while no session is open.
	ErrClosed = lock.WithCode("no_room", "no room is open; POST /room opens one")
	// ErrFull is returned by Join if the session has MaxParticipants, and none of them may be replaced by the new one.
	ErrFull = lock.WithCode("room_full", fmt.Sprintf("the room is full: it has %d participants", MaxParticipants))
	// ErrParticipant is returned for an unknown participant, or an address without participants.
	ErrParticipant = lock.WithCode("no_participant", "the room has no such participant; POST /room/join returns the id of a new one")
	// ErrDropped is returned by Join for an address that the teacher has removed by Drop.
	ErrDropped = lock.WithCode("dropped", "the teacher has removed this address, which may not join until the room is closed")
)

// Session is a class that predicts together: it counts the participants that chose each answer. It exists only in memory, and its contents
// are discarded when it is closed. A new Session is closed; Open opens it. Several goroutines may call its methods.
type Session struct {
	NewID func() string    // generates the secret id of a participant
	Now   func() time.Time // returns the current time

	mu           sync.Mutex
	expiry       time.Time // time at which the session closes by itself
	current      CurrentLesson
	participants map[string]*participant // participants by secret id; nil: the session is closed
	dropped      map[string]bool         // addresses that may not join, because the teacher removed them
}

// participant is what the session knows about a participant.
type participant struct {
	address  string      // client address of its POST /room/join
	lastSeen time.Time   // time of its last request
	choices  map[int]int // 1-based choice by lesson number; absent: none
}

// CurrentLesson is the lesson that the class is at, as set by the teacher.
type CurrentLesson struct {
	Lesson   string `json:"at"`       // number of the lesson in two digits; "": none yet
	Revealed bool   `json:"revealed"` // the answer to the lesson's question is shown
}

// State is the public state of a session. A closed session has the zero State.
type State struct {
	Open         bool      `json:"open"`
	ClosesAt     time.Time `json:"until,omitzero"` // time at which the session closes by itself
	Participants int       `json:"participants"`   // number of participants heard from within Silence
	CurrentLesson
	Answer int   `json:"answer,omitzero"`  // 1-based right choice of the current lesson; 0: not revealed
	Counts []int `json:"counts,omitempty"` // number of answers for each choice; nil: not revealed
	Choice int   `json:"choice,omitzero"`  // 1-based choice of the participant who asks; 0: none, or not revealed
}

// AnswerCounts has the answers of a class to the question of a lesson.
type AnswerCounts struct {
	Lesson       int   `json:"lesson"`       // number of the lesson
	Counts       []int `json:"counts"`       // number of answers for each choice
	Participants int   `json:"participants"` // number of participants who have answered, or were heard from within Silence
}

// Open opens the session for its Lifetime. It does not change an open session.
func (s *Session) Open() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state().Open {
		s.expiry = s.Now().Add(Lifetime)
		s.current = CurrentLesson{}
		s.participants = map[string]*participant{}
		s.dropped = map[string]bool{}
	}
	return s.state()
}

// Close closes the session, and discards its participants and answers.
func (s *Session) Close() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.participants = nil
	return s.state()
}

// State returns the state of the session as the participant id sees it, and records that the participant was heard from. An empty id
// stands for a reader who does not take part.
func (s *Session) State(id string) (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, state := s.participants[id], s.state()
	switch {
	case id == "" || !state.Open:
		return state, nil
	case p == nil:
		return State{}, ErrParticipant
	}
	p.lastSeen = s.Now()
	state = s.state()
	if state.Revealed {
		lesson, _ := strconv.Atoi(state.Lesson) // SetLesson only takes numbers.
		state.Choice = p.choices[lesson]
	}
	return state, nil
}

// state closes the session if its lifetime is over, and returns its state. The caller holds mu.
func (s *Session) state() State {
	if !s.Now().Before(s.expiry) {
		s.participants = nil
	}
	if s.participants == nil {
		return State{}
	}
	state := State{Open: true, ClosesAt: s.expiry, CurrentLesson: s.current}
	for _, p := range s.participants {
		if s.isPresent(p) {
			state.Participants++
		}
	}
	return state
}

// isPresent reports whether a participant was heard from within Silence.
func (s *Session) isPresent(p *participant) bool { return s.Now().Sub(p.lastSeen) < Silence }

// SetLesson sets the lesson that the class is at.
func (s *Session) SetLesson(current CurrentLesson) (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state().Open {
		return State{}, ErrClosed
	}
	s.current = current
	return s.state(), nil
}

// Answer records the 1-based choice of a participant in a lesson. It replaces an earlier choice.
func (s *Session) Answer(id string, lesson, choice int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state().Open {
		return ErrClosed
	}
	p := s.participants[id]
	if p == nil {
		return ErrParticipant
	}
	p.lastSeen = s.Now()
	p.choices[lesson] = choice
	return nil
}

// Counts returns the answers in a lesson that has this number of choices. An answer counts even if its participant has been silent since,
// because phones soon sleep. A silent participant without an answer does not count, so that the class does not wait for it.
func (s *Session) Counts(lesson, choices int) (AnswerCounts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state().Open {
		return AnswerCounts{}, ErrClosed
	}
	counts := AnswerCounts{Lesson: lesson, Counts: make([]int, choices)}
	for _, p := range s.participants {
		choice := p.choices[lesson]
		if choice > 0 {
			counts.Counts[choice-1]++
		}
		if choice > 0 || s.isPresent(p) {
			counts.Participants++
		}
	}
	return counts, nil
}
