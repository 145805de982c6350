package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/api/answer"
	"lockstep/internal/lock"
)

var (
	errPanic  = errors.New("a bug: the log says where")
	errEnding = lock.WithCode("ending", "this server is ending; send requests to another")
)

// Entrance is what every request passes first, both at a server and at a cluster's front. It sets the headers that every answer has, reads
// the request's body, counts the requests that are being handled, and answers those whose handler panics. Once the server ends, it says so
// in every answer.
type Entrance struct {
	Next    http.Handler
	Replica string // the name of the server, for every answer; a front has none
	Log     *slog.Logger
	Admit   func(header http.Header, r *http.Request) error // refuses requests before anything is read of them; nil: none

	ending atomic.Bool

	mu     sync.Mutex
	inside int
	left   time.Time // when the last request left
	shut   bool
}

func (e *Entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.Replica != "" {
		w.Header().Set("X-Lockstep-Replica", e.Replica)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	writer := &begun{ResponseWriter: w, ending: &e.ending}
	defer writer.begin() // an answer without a body
	if e.Admit != nil {
		if err := e.Admit(w.Header(), r); err != nil {
			answer.Error(writer, err)
			return
		}
	}
	if err := readBody(w, r); err != nil {
		answer.Error(writer, err)
		return
	}
	if e.ending.Load() && r.URL.Path == "/readyz" {
		answer.Error(writer, errEnding)
		return
	}
	if !e.enter() {
		panic(http.ErrAbortHandler) // its connection is closed; the request has had no effect
	}
	defer e.leave()
	defer e.recovered(writer, r)
	e.Next.ServeHTTP(writer, r)
}

// End makes every answer that has not begun the last one of its connection, and the server not ready.
func (e *Entrance) End() { e.ending.Store(true) }

// Shut refuses all requests from now on, if none has been inside for that time. It reports whether it does.
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

// recovered logs what a handler panicked with, and where. The client gets a 500; if its answer has begun, the connection is closed.
func (e *Entrance) recovered(w *begun, r *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) { // no bug: a proxy gives up an answer in this way
		panic(http.ErrAbortHandler)
	}
	e.Log.Error("panic", "request", r.Method+" "+r.URL.Path, "reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
	if w.has {
		panic(http.ErrAbortHandler)
	}
	answer.Error(w, errPanic)
}

// begun records whether an answer has begun.
type begun struct {
	http.ResponseWriter
	ending *atomic.Bool
	has    bool
}

// begin records it. The client is told in time not to send its next request on a connection that will be closed.
func (a *begun) begin() {
	if !a.has && a.ending.Load() {
		a.Header().Set("Connection", "close")
	}
	a.has = true
}

func (a *begun) WriteHeader(status int) {
	if status >= http.StatusOK { // 1xx only announce the answer
		a.begin()
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *begun) Write(text []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(text)
}

// Flush is for gin, which asserts http.Flusher; others find it by Unwrap.
func (a *begun) Flush() {
	a.begin()
	_ = http.NewResponseController(a.ResponseWriter).Flush() // if it cannot flush, the answer is sent at its end
}

// Unwrap is for http.ResponseController.
func (a *begun) Unwrap() http.ResponseWriter { return a.ResponseWriter }
