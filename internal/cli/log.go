package cli

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
)

// heldWriter holds back what is written until its release, so that the log does not come before the first line.
type heldWriter struct {
	to io.Writer

	mu       sync.Mutex
	held     bytes.Buffer
	released bool
}

func (w *heldWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.released {
		return w.to.Write(text)
	}
	return w.held.Write(text)
}

func (w *heldWriter) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.released = true
	_, _ = w.held.WriteTo(w.to) // a log that cannot be written is no reason not to sell
}

func newLog(to io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo // config allows no other names
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: l}))
}
