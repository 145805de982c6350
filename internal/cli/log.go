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
	maxHoldback     = 2 * time.Second // longest time for which a log is held back
	flushTimeout    = 2 * time.Second // longest time for which the end of a command waits for a slow reader
	maxQueuedWrites = 1 << 11         // capacity of the queue of writes that wait for the reader of a log
)

// logWriter is a writer for logs that never blocks. While nobody reads the log, up to maxQueuedWrites writes are queued; further ones, and
// those that fail, are dropped. lostLines counts the dropped lines, and a later line of the log reports them.
//
// The log is held back until release, so that the command's first line comes before it, but for at most maxHoldback: the log may say why
// the start takes so long.
type logWriter struct {
	to           io.Writer
	queue        chan []byte   // queue of writes
	lost         atomic.Int64  // number of dropped lines
	reported     int64         // number of dropped lines that the log has reported; used only by writeAll
	once         sync.Once     // guards the start of writeAll
	holdback     *time.Timer   // calls release after maxHoldback
	closing      chan struct{} // closed by startClosing
	startClosing func()        // closes closing, once
	finished     chan struct{} // closed when writeAll has returned
}

// newLogWriter returns a writer for logs that writes to to.
func newLogWriter(to io.Writer) *logWriter {
	closing := make(chan struct{})
	end := sync.OnceFunc(func() { close(closing) })
	w := &logWriter{to: to, queue: make(chan []byte, maxQueuedWrites), closing: closing, startClosing: end, finished: make(chan struct{})}
	w.holdback = time.AfterFunc(maxHoldback, w.release)
	return w
}

// Write queues one or more lines. It never blocks, and never fails: it drops what does not fit into the queue.
func (w *logWriter) Write(text []byte) (int, error) {
	select {
	case w.queue <- bytes.Clone(text):
	default:
		w.lost.Add(countLines(text))
	}
	return len(text), nil
}

// release starts to write what has been queued.
func (w *logWriter) release() {
	w.once.Do(func() { go w.writeAll() })
}

// close writes what is queued, and waits for that for at most flushTimeout. Later writes may be lost.
func (w *logWriter) close() {
	w.holdback.Stop()
	w.release()
	w.startClosing()
	select {
	case <-w.finished:
	case <-time.After(flushTimeout):
	}
}

// writeAll writes queued texts until the writer is closed and the queue is empty.
func (w *logWriter) writeAll() {
	defer close(w.finished)
	for {
		w.reportLost()
		select {
		case text := <-w.queue:
			w.write(text)
			continue
		default:
		}
		select {
		case text := <-w.queue:
			w.write(text)
		case <-w.closing:
			if len(w.queue) == 0 {
				return
			}
		}
	}
}

// write writes a queued text, or counts its lines as lost.
func (w *logWriter) write(text []byte) {
	w.reportLost()
	if _, err := w.to.Write(text); err != nil {
		w.lost.Add(countLines(text))
	}
}

// reportLost writes how many lines have been lost since the last report.
func (w *logWriter) reportLost() {
	lost := w.lost.Load()
	if lost == w.reported {
		return
	}
	var line bytes.Buffer
	newLog(&line, "").Warn("log lines were lost because they could not be written", "lines", lost-w.reported)
	if _, err := w.to.Write(line.Bytes()); err == nil {
		w.reported = lost
	}
}

// lostLines returns the number of lines lost so far.
func (w *logWriter) lostLines() int64 { return w.lost.Load() }

// printLines writes lines, and waits for a slow reader for at most flushTimeout.
func printLines(to io.Writer, lines ...string) {
	w := newLogWriter(to)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	w.close()
}

// countLines returns the number of lines in text.
func countLines(text []byte) int64 { return int64(bytes.Count(text, []byte("\n"))) }

// newLog returns a logger of text lines. level is the value of the setting log.level; any other name means info.
func newLog(to io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo // Package config has rejected all unknown names.
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: l}))
}
