package api

import (
	"net/http"
	"sync"

	"lockstep/internal/api/route"
	"lockstep/internal/lock"
)

var (
	errTooManyStreams  = lock.WithCode("busy", "too many streams are open; each holds a connection that a buyer may need, so try again later")
	errTooManyOfClient = lock.WithCode("busy", "too many streams of this address are open; close some, or try again later")
)

// Streams limits the number of open event streams, in total and per client.
type Streams struct {
	Max          int // open streams in total; 0: no limit
	MaxPerClient int // open streams per client address; 0: no separate limit

	mu           sync.Mutex
	open         int
	openByClient map[string]int // number of open streams by client address
}

// Limit returns a handler that refuses requests beyond the limits. A nil Streams limits nothing.
func (s *Streams) Limit(stream route.Handler) route.Handler {
	if s == nil {
		return stream
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		client := ClientAddress(r, false)
		if err := s.enter(client); err != nil {
			return err
		}
		defer s.leave(client)
		return stream(w, r)
	}
}

// enter counts an open stream of a client. It fails if a limit is reached.
func (s *Streams) enter(client string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.Max > 0 && s.open >= s.Max:
		return errTooManyStreams
	case s.MaxPerClient > 0 && s.openByClient[client] >= s.MaxPerClient:
		return errTooManyOfClient
	}
	if s.openByClient == nil {
		s.openByClient = map[string]int{}
	}
	s.open++
	s.openByClient[client]++
	return nil
}

// leave ends a stream counted by enter.
func (s *Streams) leave(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.openByClient[client]--; s.openByClient[client] == 0 {
		delete(s.openByClient, client)
	}
}
