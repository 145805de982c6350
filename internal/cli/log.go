package cli

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	heldTime    = 2 * time.Second // how long a log is held back at most
	flushTime   = 2 * time.Second // how long the end of a command waits for its output to be read
	mostWaiting = 1 << 11         // how many writes to a log wait while nobody reads it
)

// logWriter writes a log without holding up those who log. While nobody reads the log, up to mostWaiting writes wait; of what comes then,
// and of what cannot be written, lostLines counts the lines, and a later line says how many they were.
//
// A log is held back until release, so that it does not come before the command's first line; at most for heldTime, since it says why the
// start takes so long.
type logWriter struct {
	to       io.Writer
	waiting  chan []byte
	lost     atomic.Int64  // lines
	told     int64         // how many lost lines the log has told of
	once     sync.Once     // starts to write
	late     *time.Timer   // releases the log after heldTime
	ending   chan struct{} // closed by end
	end      func()
	finished chan struct{} // closed when everything has been written after ending
}

func newLogWriter(to io.Writer) *logWriter {
	ending := make(chan struct{})
	end := sync.OnceFunc(func() { close(ending) })
	w := &logWriter{to: to, waiting: make(chan []byte, mostWaiting), ending: ending, end: end, finished: make(chan struct{})}
	w.late = time.AfterFunc(heldTime, w.release)
	return w
}

// Write takes the text of one or more lines. It never blocks, and never fails.
func (w *logWriter) Write(text []byte) (int, error) {
	select {
	case w.waiting <- bytes.Clone(text):
	default:
		w.lost.Add(countLines(text))
	}
	return len(text), nil
}

// release lets the log be written.
func (w *logWriter) release() {
	w.once.Do(func() { go w.writeAll() })
}

// close waits until everything has been written, for flushTime at most. What is written after it may be lost.
func (w *logWriter) close() {
	w.late.Stop()
	w.release()
	w.end()
	select {
	case <-w.finished:
	case <-time.After(flushTime):
	}
}

// writeAll writes what comes until the log is closed and nothing waits any more.
func (w *logWriter) writeAll() {
	defer close(w.finished)
	for {
		w.tellLost()
		select {
		case text := <-w.waiting:
			w.write(text)
			continue
		default:
		}
		select {
		case text := <-w.waiting:
			w.write(text)
		case <-w.ending:
			if len(w.waiting) == 0 {
				return
			}
		}
	}
}

func (w *logWriter) write(text []byte) {
	w.tellLost()
	if _, err := w.to.Write(text); err != nil {
		w.lost.Add(countLines(text))
	}
}

// tellLost writes how many lines have been lost since the last line that said so.
func (w *logWriter) tellLost() {
	lost := w.lost.Load()
	if lost == w.told {
		return
	}
	var line bytes.Buffer
	newLog(&line, "").Warn("lines of the log were lost: they could not be written", "lines", lost-w.told)
	if _, err := w.to.Write(line.Bytes()); err == nil {
		w.told = lost
	}
}

// lostLines returns how many lines have been lost.
func (w *logWriter) lostLines() int64 { return w.lost.Load() }

// tell writes lines, but does not wait for longer than flushTime until they are read.
func tell(to io.Writer, lines ...string) {
	w := newLogWriter(to)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	w.close()
}

func countLines(text []byte) int64 { return int64(bytes.Count(text, []byte("\n"))) }

func newLog(to io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo // config allows no other names
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: l}))
}
