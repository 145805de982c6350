package api

import (
	"net/http"
	"sync"

	"lockstep/internal/api/route"
	"lockstep/internal/lock"
)

var (
	errStreams = lock.WithCode("busy", "too many streams are open; each holds a connection that a buyer may need, so try again later")
	errShare   = lock.WithCode("busy", "too many streams of this address are open; close some, or try again later")
)

// Streams bounds the answers that go on as long as somebody watches.
type Streams struct {
	Most  int // 0: any number
	Share int // of one client, by its address; 0: Most

	mu   sync.Mutex
	open int
	of   map[string]int // by the client's address
}

// Bound returns a handler that lets only so many of its requests be handled at once.
func (s *Streams) Bound(stream route.Handler) route.Handler {
	if s == nil {
		return stream
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		client := Client(r, false)
		if err := s.enter(client); err != nil {
			return err
		}
		defer s.leave(client)
		return stream(w, r)
	}
}

func (s *Streams) enter(client string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.Most > 0 && s.open >= s.Most:
		return errStreams
	case s.Share > 0 && s.of[client] >= s.Share:
		return errShare
	}
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.open++
	s.of[client]++
	return nil
}

func (s *Streams) leave(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.of[client]--; s.of[client] == 0 {
		delete(s.of, client)
	}
}
