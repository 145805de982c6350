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

	"lockstep/internal/lock"
	"lockstep/internal/shop/load"
	"lockstep/internal/shop/sse"
)

// WriteEvent writes one event of a stream. A watcher that comes back says what it has seen: ids with commas between them, one of each
// process.
func WriteEvent(stream *sse.Writer, id string, event Event) error {
	data, err := json.Marshal(event)
	if err == nil {
		err = stream.Write(sse.Event{ID: id, Data: data})
	}
	return err
}

// ServeHTTP streams the events as server-sent events, until the watcher leaves or the replica ends. The id of an event is the
// process's name and the event's own id: a watcher that comes back to a process that was started anew is told everything. A watcher that
// asks for a pace in milliseconds is told what has happened once in that time: of many events that costs less.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	stream := sse.NewWriter(w)
	r.Watch(request.Context(), r.lastSeen(request.Header.Get(sse.LastEventID)), paceOf(request), func(events ...Event) error {
		for _, event := range events {
			if err := WriteEvent(stream, r.streamID(event.ID), event); err != nil {
				return err
			}
		}
		return stream.Flush()
	})
}

// Watch tells see of the events after one: at once of those that are known, though there may be none, and then at a pace of those to come,
// until ctx or the replica ends, or see fails.
func (r *Recorder) Watch(ctx context.Context, after uint64, pace time.Duration, see func(...Event) error) {
	for {
		events, more := r.since(after)
		if see(events...) != nil || ctx.Err() != nil {
			return
		}
		if len(events) > 0 {
			after = events[len(events)-1].ID
		}
		if len(events) >= mostAtOnce {
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
const slowestPace = time.Second

// paceOf is the pace that a watcher asks for; 0 if it asks for none.
func paceOf(request *http.Request) time.Duration {
	pace, _ := strconv.Atoi(request.URL.Query().Get("pace_ms")) // what is no number is none
	return min(time.Duration(max(pace, 0))*time.Millisecond, slowestPace)
}

func (r *Recorder) streamID(id uint64) string { return r.process + ":" + strconv.FormatUint(id, 10) }

// lastSeen is the id of this process's event that a watcher has seen last; 0 if there is none.
func (r *Recorder) lastSeen(header string) uint64 {
	for seen := range strings.SplitSeq(header, ",") {
		if number, ours := strings.CutPrefix(seen, r.process+":"); ours {
			id, _ := strconv.ParseUint(number, 10, 64) // what is no number is none
			return id
		}
	}
	return 0
}

// KeepFollowing follows the stream at a URL until ctx ends, also when it has been away: after a pause it is asked again. The URL may be
// another one by then, or "" while there is none.
func KeepFollowing(ctx context.Context, url func() string, lastID string, pause time.Duration, see func(id string, event Event)) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: load.Dialer()}}
	for wait := time.Duration(0); lock.Sleep(ctx, lock.SystemClock{}, wait) == nil; wait = pause {
		if at := url(); at != "" {
			lastID, _ = Follow(ctx, client, at, lastID, see) // if it has failed, it is tried again
		}
	}
}

// longestLine is more than any event has.
const longestLine = 1 << 20

// Follow reads the stream at a URL, and calls see with each event and its id, until the stream ends or ctx does. lastID says where to
// begin, "" at the oldest event that is kept; Follow returns the id of the last one, for the next Follow.
func Follow(ctx context.Context, client *http.Client, url, lastID string, see func(id string, event Event)) (string, error) {
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
	for sent, err := range sse.Read(response.Body, longestLine) {
		if err != nil {
			return lastID, err
		}
		var event Event
		if err := json.Unmarshal(sent.Data, &event); err != nil {
			return lastID, fmt.Errorf("GET %s: %w", url, err)
		}
		lastID = cmp.Or(sent.ID, lastID)
		see(lastID, event)
	}
	return lastID, nil
}

// Collector collects the events of several replicas.
type Collector struct {
	mu     sync.Mutex
	events []Event       // as they came
	news   chan struct{} // closed when there is another event
}

// NewCollector makes an empty one.
func NewCollector() *Collector { return &Collector{news: make(chan struct{})} }

// Collect is See, as Follow calls it.
func (c *Collector) Collect(_ string, event Event) { c.Record(event) }

// Record adds an event. It may come late: another replica's stream was faster.
func (c *Collector) Record(event Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event)
	close(c.news)
	c.news = make(chan struct{})
}

// Events gives those seen so far, in order of time.
func (c *Collector) Events() []Event {
	events, _ := c.look()
	return events
}

// Until waits until the events seen so far satisfy a condition. It fails when ctx ends, with its cause.
func (c *Collector) Until(ctx context.Context, condition func([]Event) bool) error {
	for {
		events, news := c.look()
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

func (c *Collector) look() ([]Event, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return InOrder(c.events), c.news
}

// InOrder gives the events of several replicas in order of the time when each was over.
func InOrder(events []Event) []Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int { return a.Replied.Compare(b.Replied) })
	return events
}
