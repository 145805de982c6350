package sse

import (
	"bufio"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// Read returns the events that were written, without comments and incomplete events. An event without an id has the last one.
func TestReadReturnsWrittenEvents(t *testing.T) {
	answer := httptest.NewRecorder()
	stream := NewWriter(answer)
	if err := errors.Join(
		stream.Write(Event{ID: "r1:7", Data: []byte(`{"a":1}`)}), stream.Comment("nothing new"), stream.Send("done", []int{1}), stream.Flush(),
	); err != nil {
		t.Fatal(err)
	}
	if want := "id: r1:7\ndata: {\"a\":1}\n\n: nothing new\n\nevent: done\ndata: [1]\n\n"; answer.Body.String() != want {
		t.Errorf("written:\n%s\nwant:\n%s", answer.Body, want)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
	} {
		t.Run(name, func(t *testing.T) {
			if got := answer.Header().Get(name); got != want {
				t.Errorf("got %q; want %q", got, want)
			}
		})
	}
	want := []Event{{ID: "r1:7", Data: []byte(`{"a":1}`)}, {ID: "r1:7", Name: "done", Data: []byte("[1]")}}
	var got []Event
	for event, err := range Read(strings.NewReader(answer.Body.String()+"data: cut off"), 100) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, event)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %q; want %q", got, want)
	}
}

// A line that is too long ends Read with an error.
func TestReadReturnsErrTooLong(t *testing.T) {
	var last error
	n := 0
	for _, err := range Read(strings.NewReader("data: 1\n\ndata: "+strings.Repeat("x", 100)+"\n\n"), 50) {
		n, last = n+1, err
	}
	if n != 2 || !errors.Is(last, bufio.ErrTooLong) {
		t.Errorf("%d results, the last with %v; want 2 and ErrTooLong", n, last)
	}
}

// Several goroutines may write; their events do not interleave.
func TestConcurrentWritesDoNotInterleave(t *testing.T) {
	answer := httptest.NewRecorder()
	stream := NewWriter(answer)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() { _ = stream.Send("progress", map[string]int{"states": 1}) })
	}
	writers.Wait()
	n := 0
	for event, err := range Read(answer.Body, 100) {
		if err == nil && event.Name == "progress" && string(event.Data) == `{"states":1}` {
			n++
		}
	}
	if n != 8 {
		t.Errorf("%d whole events; want 8", n)
	}
}
