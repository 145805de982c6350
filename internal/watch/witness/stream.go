package witness

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/lock"
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
		if see(events...) != nil || more == nil {
			return
		}
		if len(events) > 0 {
			after = events[len(events)-1].ID
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

// streamID is unlike that of any other process.
func (r *Recorder) streamID(id uint64) string {
	return r.process + ":" + strconv.FormatUint(id, 10)
}

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
