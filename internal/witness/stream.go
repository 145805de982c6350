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

// ServeHTTP streams the events as server-sent events, until the watcher leaves or the replica ends. The id of an event is the
// process's name and the event's own id: a watcher that comes back to a process that was started anew is told everything. A watcher that
// asks for a pace in milliseconds is told what has happened once in that time: of many events that costs less.
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

// Stream tells see of the events after those that a watcher has seen, as they are sent: at once of those that are known, though there may
// be none, and then at a pace of those to come, until ctx or the replica ends, or see fails. seen is the id of the last event, or those of
// several processes with commas between them.
func (r *Recorder) Stream(ctx context.Context, seen string, pace time.Duration, see func(...sse.Event) error) {
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
		return see(events...)
	})
}

// Watch tells see of all events that are kept, and of those to come, as Stream does.
func (r *Recorder) Watch(ctx context.Context, pace time.Duration, see func(...Event) error) {
	r.streamNotes(ctx, "", pace, func(_ string, notes []note) error {
		events := make([]Event, len(notes))
		for i, n := range notes {
			events[i] = n.describe()
		}
		return see(events...)
	})
}

// watch tells see of notes, and of whose process they are; see describes them, while no sale waits for that.
func (r *Recorder) streamNotes(ctx context.Context, seen string, pace time.Duration, see func(process string, notes []note) error) {
	for {
		process, notes, more := r.notesAfter(seen)
		if see(process, notes) != nil || ctx.Err() != nil {
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

// slowestPace is the slowest that a watcher may ask for.
const maxPace = time.Second

// paceOf is the pace that a watcher asks for; 0 if it asks for none.
func requestedPace(request *http.Request) time.Duration {
	pace, _ := strconv.Atoi(request.URL.Query().Get("pace_ms")) // what is no number is none
	return min(time.Duration(max(pace, 0))*time.Millisecond, maxPace)
}

func streamID(process string, id uint64) string { return process + ":" + strconv.FormatUint(id, 10) }

// lastSeen is the id of a process's event that a watcher has seen last; 0 if there is none.
func lastSeenID(process, header string) uint64 {
	for seen := range strings.SplitSeq(header, ",") {
		if number, its := strings.CutPrefix(seen, process+":"); its {
			id, _ := strconv.ParseUint(number, 10, 64) // what is no number is none
			return id
		}
	}
	return 0
}

// KeepFollowing follows the stream at a URL until ctx ends, also when it has been away: after a pause it is asked again. The URL may be
// another one by then, or "" while there is none.
func KeepFollowing(ctx context.Context, url func() string, pause time.Duration, see func(sse.Event) error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: load.Dialer()}}
	lastID := ""
	for wait := time.Duration(0); lock.Sleep(ctx, lock.SystemClock{}, wait) == nil; wait = pause {
		if at := url(); at != "" {
			lastID, _ = follow(ctx, client, at, lastID, see) // if it has failed, it is tried again
		}
	}
}

// longestLine is more than any event has.
const maxLineBytes = 1 << 20

// Follow reads the stream at a URL, and calls see with each event and its id, until the stream ends or ctx does. lastID says where to
// begin, "" at the oldest event that is kept; Follow returns the id of the last one, for the next Follow.
func Follow(ctx context.Context, client *http.Client, url, lastID string, see func(id string, event Event)) (string, error) {
	return follow(ctx, client, url, lastID, DecodeEvents(see))
}

// Decoded returns what tells see of an event that was sent, and its id.
func DecodeEvents(see func(id string, event Event)) func(sse.Event) error {
	return func(sent sse.Event) error {
		var event Event
		err := json.Unmarshal(sent.Data, &event)
		if err == nil {
			see(sent.ID, event)
		}
		return err
	}
}

func follow(ctx context.Context, client *http.Client, url, lastID string, see func(sse.Event) error) (string, error) {
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
		if err := see(sent); err != nil {
			return lastID, fmt.Errorf("GET %s: %w", url, err)
		}
		lastID = sent.ID
	}
	return lastID, nil
}

// Collector collects the events of several replicas.
type Collector struct {
	mu      sync.Mutex
	events  []Event       // as they came
	changed chan struct{} // closed when there is another event
}

// NewCollector makes an empty one.
func NewCollector() *Collector { return &Collector{changed: make(chan struct{})} }

// Collect is See, as Follow calls it.
func (c *Collector) Collect(_ string, event Event) { c.Record(event) }

// Record adds an event. It may come late: another replica's stream was faster.
func (c *Collector) Record(event Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event)
	close(c.changed)
	c.changed = make(chan struct{})
}

// Events gives those seen so far, in order of time.
func (c *Collector) Events() []Event {
	events, _ := c.snapshot()
	return events
}

// Until waits until the events seen so far satisfy a condition. It fails when ctx ends, with its cause.
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

func (c *Collector) snapshot() ([]Event, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return InOrder(c.events), c.changed
}

// InOrder gives the events of several replicas in order of the time when each was over.
func InOrder(events []Event) []Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int { return a.Replied.Compare(b.Replied) })
	return events
}
