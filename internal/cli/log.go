package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"
)

const (
	heldTime    = 2 * time.Second // how long a log is held back at most
	flushTime   = 2 * time.Second // how long the end of a command waits for its log to be read
	mostWaiting = 1 << 20         // how much of a log waits to be written, in bytes
)

// logWriter writes a log without ever holding up those who log. What cannot be written yet waits; once mostWaiting waits, lines are lost.
// So are those that cannot be written at all. They are counted, and a later line says how many they were.
//
// A log is held back until its release, so that it does not come before the first line. After heldTime it is written anyway: it says why
// the start takes so long.
type logWriter struct {
	to   io.Writer
	late *time.Timer // releases it

	mu      sync.Mutex
	room    sync.Cond // there is more of it
	held    bool
	waiting []logged
	size    int           // of what waits, in bytes
	writing chan struct{} // closed when nothing waits any more; nil: nothing is being written
	gone    error         // nobody can read the log any more
	lost    int64         // lines
	told    int64         // how many of them a line tells of
}

// logged is text of a log, or the line that tells of lost ones.
type logged struct {
	text []byte
	lost int64
}

func newLogWriter(to io.Writer) *logWriter {
	w := &logWriter{to: to, held: true}
	w.room.L = &w.mu
	w.late = time.AfterFunc(heldTime, w.release)
	return w
}

// Write never blocks, and never fails.
func (w *logWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(text)
	return len(text), nil
}

// patient returns a writer for the logs of replicas, which count the lines that they lose: it waits while the log is full, and fails once
// nobody can read the log any more.
func (w *logWriter) patient() io.Writer { return patient{w} }

type patient struct{ log *logWriter }

func (p patient) Write(text []byte) (int, error) {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	for p.log.gone == nil && p.log.size > 0 && p.log.size+len(text) > mostWaiting/2 { // the other half is for the log's own lines
		p.log.room.Wait()
	}
	if p.log.gone != nil {
		return 0, p.log.gone
	}
	p.log.add(text)
	return len(text), nil
}

// add lets text wait, or counts it as lost. w.mu is held.
func (w *logWriter) add(text []byte) {
	if w.size > 0 && w.size+len(text) > mostWaiting {
		w.lost += countLines(text)
		return
	}
	w.tellLost()
	w.append(logged{text: bytes.Clone(text)})
	w.start()
}

// tellLost lets the line wait that tells of those that were lost since the last such line. w.mu is held.
func (w *logWriter) tellLost() {
	if n := w.lost - w.told; n > 0 {
		var line bytes.Buffer
		newLog(&line, "").Warn("lines of the log were lost: they could not be written", "lines", n)
		w.append(logged{text: line.Bytes(), lost: n})
		w.told += n
	}
}

func (w *logWriter) append(one logged) {
	w.waiting = append(w.waiting, one)
	w.size += len(one.text)
}

// start begins to write what waits, unless that is going on. w.mu is held.
func (w *logWriter) start() {
	if !w.held && w.writing == nil && len(w.waiting) > 0 {
		w.writing = make(chan struct{})
		go w.writeAll()
	}
}

// writeAll writes until nothing waits.
func (w *logWriter) writeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting) > 0 {
		next := w.waiting[0]
		w.waiting = w.waiting[1:]
		w.mu.Unlock()
		_, err := w.to.Write(next.text)
		w.mu.Lock()
		w.size -= len(next.text)
		if errors.Is(err, syscall.EPIPE) {
			w.gone = err
		}
		w.room.Broadcast()
		switch {
		case err == nil && len(w.waiting) == 0:
			w.tellLost()
		case err != nil && next.lost > 0:
			w.told -= next.lost
		case err != nil:
			w.lost += countLines(next.text)
		}
	}
	close(w.writing)
	w.writing = nil
}

// release lets the log be written.
func (w *logWriter) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = false
	w.start()
}

// close waits until everything has been written, but not for long.
func (w *logWriter) close() {
	w.late.Stop()
	w.release()
	w.mu.Lock()
	writing := w.writing
	w.mu.Unlock()
	if writing == nil {
		return
	}
	select {
	case <-writing:
	case <-time.After(flushTime):
	}
}

// lostLines returns how many lines have been lost.
func (w *logWriter) lostLines() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// tell writes lines, but does not wait for long if nobody reads them.
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
