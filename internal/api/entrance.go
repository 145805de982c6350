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

// Entrance is the outermost handler of a server and of a cluster's reverse proxy. It sets the common response headers, reads the request's
// body, counts requests in progress, and recovers from panics of Next. After End, every response closes its connection.
type Entrance struct {
	Next    http.Handler
	Replica string // server name sent with every response; empty for a reverse proxy
	Log     *slog.Logger
	Admit   func(header http.Header, r *http.Request) error // refuses requests before their bodies are read; nil: admits all

	ending atomic.Bool // true: End was called

	mu         sync.Mutex
	inProgress int       // number of requests in progress
	lastLeft   time.Time // time at which the last request left
	shut       bool      // true: all requests are refused
}

// ServeHTTP implements http.Handler.
func (e *Entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.Replica != "" {
		w.Header().Set("X-Lockstep-Replica", e.Replica)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	writer := &trackedResponse{ResponseWriter: w, ending: &e.ending}
	defer writer.begin() // A response without a body also begins.
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
		panic(http.ErrAbortHandler) // Closes the connection. The request has had no effect.
	}
	defer e.leave()
	defer e.recoverPanic(writer, r)
	e.Next.ServeHTTP(writer, r)
}

// End makes /readyz fail, and makes every response that has not begun the last one of its connection.
func (e *Entrance) End() { e.ending.Store(true) }

// ShutIfQuiet refuses all further requests if none has been in progress for the duration quiet. It reports whether requests are refused.
func (e *Entrance) ShutIfQuiet(quiet time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shut = e.shut || e.inProgress == 0 && time.Since(e.lastLeft) >= quiet
	return e.shut
}

// enter counts a request in progress. It reports false if requests are refused.
func (e *Entrance) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.shut {
		e.inProgress++
	}
	return !e.shut
}

// leave ends a request counted by enter.
func (e *Entrance) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inProgress--
	e.lastLeft = time.Now()
}

// recoverPanic logs a handler's panic with its stack. The client gets status 500, or a closed connection if its response has begun.
func (e *Entrance) recoverPanic(w *trackedResponse, r *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) { // A proxy aborts a response in this way; it is not a bug.
		panic(http.ErrAbortHandler)
	}
	e.Log.Error("panic", "request", r.Method+" "+r.URL.Path, "reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	answer.Error(w, errPanic)
}

// trackedResponse records whether a response has begun.
type trackedResponse struct {
	http.ResponseWriter
	ending *atomic.Bool // Entrance.ending
	begun  bool         // true: the status line was written, or is about to be
}

// begin records the start of the response. While the server ends, it tells the client not to reuse the connection.
func (a *trackedResponse) begin() {
	if !a.begun && a.ending.Load() {
		a.Header().Set("Connection", "close")
	}
	a.begun = true
}

// WriteHeader implements http.ResponseWriter.
func (a *trackedResponse) WriteHeader(status int) {
	if status >= http.StatusOK { // A 1xx status only precedes the response.
		a.begin()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *trackedResponse) Write(text []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(text)
}

// Flush is for gin, which asserts http.Flusher; others find it by Unwrap.
func (a *trackedResponse) Flush() {
	a.begin()
	_ = http.NewResponseController(a.ResponseWriter).Flush() // if it cannot flush, the answer is sent at its end
}

// Unwrap is for http.ResponseController.
func (a *trackedResponse) Unwrap() http.ResponseWriter { return a.ResponseWriter }
