package witness

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockstep/internal/api/sse"
	"lockstep/internal/load"
	"lockstep/internal/lock"
)

// ServeHTTP streams the events as server-sent events, until the watcher leaves or the recorder is closed. The id of an event is the
// process's name and the event's own id, so a watcher that returns to a restarted process gets everything. With ?pace_ms=100, a watcher
// gets events in batches at that interval, which costs less.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	stream := sse.NewWriter(w)
	r.Stream(request.Context(), request.Header.Get(sse.LastEventID), requestedPace(request), func(events ...sse.Event) error {
		for _, event := range events {
			if err := stream.Write(event); err != nil {
				return err
			}
		}
		return stream.Flush()
	})
}

// Stream calls onEvents with the encoded events after those that a watcher has seen. The first call is immediate, and has the events
// recorded so far, perhaps none. Later calls have new events, at the given pace. Stream returns when ctx ends, the recorder is closed, or
// onEvents fails. seen is the id of the last event seen, or one id for each of several processes, separated by commas.
func (r *Recorder) Stream(ctx context.Context, seen string, pace time.Duration, onEvents func(...sse.Event) error) {
	r.streamNotes(ctx, seen, pace, func(process string, notes []note) (err error) {
		events := make([]sse.Event, len(notes))
		for i, n := range notes {
			if n.encoded == nil {
				n.encoded, err = json.Marshal(n.describe())
			}
			if err != nil {
				return err
			}
			events[i] = sse.Event{ID: streamID(process, n.event.ID), Data: n.encoded}
		}
		return onEvents(events...)
	})
}

// Watch is like Stream for a watcher that has seen nothing, and calls onEvents with decoded events.
func (r *Recorder) Watch(ctx context.Context, pace time.Duration, onEvents func(...Event) error) {
	r.streamNotes(ctx, "", pace, func(_ string, notes []note) error {
		events := make([]Event, len(notes))
		for i, n := range notes {
			events[i] = n.describe()
		}
		return onEvents(events...)
	})
}

// streamNotes calls onNotes with new notes and the name of their process, as Stream describes. onNotes has to describe the notes itself,
// because sales would wait for a description under the recorder's mutex.
func (r *Recorder) streamNotes(ctx context.Context, seen string, pace time.Duration, onNotes func(process string, notes []note) error) {
	for {
		process, notes, more := r.notesAfter(seen)
		if onNotes(process, notes) != nil || ctx.Err() != nil {
			return
		}
		if len(notes) > 0 {
			seen = streamID(process, notes[len(notes)-1].event.ID)
		}
		if len(notes) >= maxBatch {
			continue
		}
		if more == nil {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
		if lock.Sleep(ctx, lock.SystemClock{}, pace) != nil {
			return
		}
	}
}

// maxPace is the longest interval that a watcher may ask for: a page should not look frozen.
const maxPace = time.Second

// requestedPace returns the interval that a watcher asks for; 0 if it asks for none.
func requestedPace(request *http.Request) time.Duration {
	pace, _ := strconv.Atoi(request.URL.Query().Get("pace_ms")) // a malformed number counts as 0
	return min(time.Duration(max(pace, 0))*time.Millisecond, maxPace)
}

// streamID returns the id of an event in a stream.
func streamID(process string, id uint64) string { return process + ":" + strconv.FormatUint(id, 10) }

// lastSeenID returns the id of a process's last event that a watcher has seen; 0 if there is none.
func lastSeenID(process, header string) uint64 {
	for seen := range strings.SplitSeq(header, ",") {
		if number, ok := strings.CutPrefix(seen, process+":"); ok {
			id, _ := strconv.ParseUint(number, 10, 64) // a malformed number counts as 0
			return id
		}
	}
	return 0
}

// KeepFollowing follows the stream at a URL until ctx ends, and calls onEvent with each event. When the stream ends, it requests the stream
// again after a pause. url may then return another URL; "" means that there is no stream at present.
func KeepFollowing(ctx context.Context, url func() string, pause time.Duration, onEvent func(sse.Event) error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: load.Dialer()}}
	lastID := ""
	for wait := time.Duration(0); lock.Sleep(ctx, lock.SystemClock{}, wait) == nil; wait = pause {
		if at := url(); at != "" {
			lastID, _ = follow(ctx, client, at, lastID, onEvent) // a failed request is repeated
		}
	}
}

// maxLineBytes bounds a line of a stream; the JSON of any event is shorter.
const maxLineBytes = 1 << 20

// Follow reads the stream at a URL, and calls onEvent with each event and its id, until the stream or ctx ends. It begins after lastID; "":
// at the oldest event that the recorder keeps. Follow returns the id of the last event, for the next Follow.
func Follow(ctx context.Context, client *http.Client, url, lastID string, onEvent func(id string, event Event)) (string, error) {
	return follow(ctx, client, url, lastID, DecodeEvents(onEvent))
}

// DecodeEvents returns a callback that decodes an encoded event, and calls onEvent with it and its id.
func DecodeEvents(onEvent func(id string, event Event)) func(sse.Event) error {
	return func(sent sse.Event) error {
		var event Event
		err := json.Unmarshal(sent.Data, &event)
		if err == nil {
			onEvent(sent.ID, event)
		}
		return err
	}
}

// follow is like Follow, but calls onEvent with encoded events.
func follow(ctx context.Context, client *http.Client, url, lastID string, onEvent func(sse.Event) error) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return lastID, err
	}
	request.Header.Set(sse.LastEventID, lastID)
	response, err := client.Do(request)
	if err != nil {
		return lastID, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return lastID, fmt.Errorf("GET %s: %s", url, response.Status)
	}
	for sent, err := range sse.Read(response.Body, maxLineBytes) {
		if err != nil {
			return lastID, err
		}
		sent.ID = cmp.Or(sent.ID, lastID)
		if err := onEvent(sent); err != nil {
			return lastID, fmt.Errorf("GET %s: %w", url, err)
		}
		lastID = sent.ID
	}
	return lastID, nil
}

// Collector collects the events of several replicas. Its methods may be called concurrently.
type Collector struct {
	mu      sync.Mutex    // guards the fields below
	events  []Event       // events in the order of arrival
	changed chan struct{} // closed when there is another event
}

// NewCollector returns an empty Collector.
func NewCollector() *Collector { return &Collector{changed: make(chan struct{})} }

// Collect records an event. It can be passed to Follow as onEvent.
func (c *Collector) Collect(_ string, event Event) { c.Record(event) }

// Record adds an event. Events of different replicas may come in any order.
func (c *Collector) Record(event Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event)
	close(c.changed)
	c.changed = make(chan struct{})
}

// Events returns the events so far, sorted by Replied.
func (c *Collector) Events() []Event {
	events, _ := c.snapshot()
	return events
}

// WaitUntil waits until the events so far satisfy a condition. It fails with the cause of ctx when that ends.
func (c *Collector) WaitUntil(ctx context.Context, condition func([]Event) bool) error {
	for {
		events, news := c.snapshot()
		if condition(events) {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// snapshot returns the events so far, and a channel that is closed when there is another.
func (c *Collector) snapshot() ([]Event, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return InOrder(c.events), c.changed
}

// InOrder returns the events sorted by Replied.
func InOrder(events []Event) []Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int { return a.Replied.Compare(b.Replied) })
	return events
}
