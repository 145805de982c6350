// Package sse writes and reads streams of server-sent events.
package sse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"
)

// LastEventID is the header in which a reader that comes back says what it has seen last.
const LastEventID = "Last-Event-ID"

// Event is one of a stream.
type Event struct {
	ID   string // "": when written, it has none; when read, no event before it had one either
	Name string
	Data []byte // one line, such as JSON
}

// Writer writes an answer that is a stream. It may be used by several goroutines.
type Writer struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewWriter begins the answer.
func NewWriter(w http.ResponseWriter) *Writer {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back
	return &Writer{w: w, control: http.NewResponseController(w)}
}

// Within bounds the time that the reader has from now on for what is written.
func (s *Writer) Within(d time.Duration) {
	_ = s.control.SetWriteDeadline(time.Now().Add(d)) // not every ResponseWriter can
}

// Write writes an event, to be sent by Flush.
func (s *Writer) Write(e Event) error {
	var text bytes.Buffer
	if e.ID != "" {
		fmt.Fprintf(&text, "id: %s\n", e.ID)
	}
	if e.Name != "" {
		fmt.Fprintf(&text, "event: %s\n", e.Name)
	}
	fmt.Fprintf(&text, "data: %s\n\n", e.Data)
	return s.write(text.Bytes())
}

// Comment writes what readers skip: a proxy takes a stream in which nothing comes for dead.
func (s *Writer) Comment(text string) error { return s.write([]byte(": " + text + "\n\n")) }

func (s *Writer) write(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.w.Write(text)
	return err
}

// Flush sends what was written; the header alone, if nothing was.
func (s *Writer) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.control.Flush()
}

// Send writes an event whose data is a value as JSON, and sends it.
func (s *Writer) Send(name string, value any) error {
	data, err := json.Marshal(value)
	if err == nil {
		err = s.Write(Event{Name: name, Data: data})
	}
	if err == nil {
		err = s.Flush()
	}
	return err
}

// Read gives the events of a stream until it ends. If it breaks off, the error comes last; an event that is not whole is left out. No line
// may be longer than so many bytes.
func Read(stream io.Reader, longest int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(stream)
		lines.Buffer(nil, longest)
		var event Event
		for lines.Scan() {
			field, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch {
			case len(lines.Bytes()) == 0:
				if event.Data != nil && !yield(event, nil) {
					return
				}
				event = Event{ID: event.ID}
			case string(field) == "id":
				event.ID = string(value)
			case string(field) == "event":
				event.Name = string(value)
			case string(field) == "data":
				event.Data = slices.Concat(event.Data, value)
			}
		}
		if err := lines.Err(); err != nil {
			yield(event, err)
		}
	}
}
