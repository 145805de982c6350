package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

var errPanic = errors.New("a bug: the log says where")

// Entrance is what every request passes first, at a server as at a cluster's front. It reads the request's body, counts the
// requests that are being handled, and answers those whose handler panics.
type Entrance struct {
	Next    http.Handler
	Replica string // the name of the server, for every answer; a front has none
	Log     *slog.Logger

	mu     sync.Mutex
	inside int
	left   time.Time // when the last one left
	shut   bool
}

func (e *Entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.Replica != "" {
		w.Header().Set("X-Lockstep-Replica", e.Replica)
	}
	if err := readBody(w, r); err != nil {
		WriteError(w, http.StatusBadRequest, "bad_request", err)
		return
	}
	if !e.enter() {
		panic(http.ErrAbortHandler) // its connection is closed; the request has had no effect
	}
	defer e.leave()
	answer := &answer{ResponseWriter: w}
	defer e.recovered(answer, r)
	e.Next.ServeHTTP(answer, r)
}

// Shut lets nobody in from now on, if nobody has been inside for so long; it reports whether it did.
func (e *Entrance) Shut(quiet time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shut = e.shut || e.inside == 0 && time.Since(e.left) >= quiet
	return e.shut
}

func (e *Entrance) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.shut {
		e.inside++
	}
	return !e.shut
}

func (e *Entrance) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inside--
	e.left = time.Now()
}

// recovered says what a handler panicked with, and where. The client gets a 500, or, if its answer has begun, no end of it.
func (e *Entrance) recovered(w *answer, r *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) { // no bug: whoever proxies an answer gives up on it so
		panic(http.ErrAbortHandler)
	}
	e.Log.Error("panic", "request", r.Method+" "+r.URL.Path, "reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	WriteError(w, http.StatusInternalServerError, "internal", errPanic)
}

// answer notes whether an answer has begun.
type answer struct {
	http.ResponseWriter
	begun bool
}

func (a *answer) WriteHeader(status int) {
	a.begun = a.begun || status >= http.StatusOK // those below announce the answer
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(text []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(text)
}

// Flush is for gin, which asks for it in this way; others find it by Unwrap.
func (a *answer) Flush() {
	a.begun = true
	_ = http.NewResponseController(a.ResponseWriter).Flush() // a connection that cannot will have the answer at its end
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
