package witness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// lastEventID is what a watcher that comes back says it has seen.
const lastEventID = "Last-Event-ID"

// ServeHTTP streams the events as server-sent events, until the watcher leaves or the replica ends. The id of an event is the
// process's name and the event's own id: a watcher that comes back to a process that was started anew is told everything.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	after := r.lastSeen(request.Header.Get(lastEventID))
	for first := true; ; first = false {
		events, more := r.since(after)
		for _, event := range events {
			text, err := json.Marshal(event)
			if err == nil {
				_, err = fmt.Fprintf(w, "id: %s\ndata: %s\n\n", r.streamID(event.ID), text)
			}
			if err != nil {
				return
			}
			after = event.ID
		}
		if first || len(events) > 0 {
			if control.Flush() != nil {
				return
			}
		}
		if more == nil {
			return
		}
		select {
		case <-more:
		case <-request.Context().Done():
			return
		}
	}
}

// streamID is unlike that of any other process.
func (r *Recorder) streamID(id uint64) string {
	return r.process + ":" + strconv.FormatUint(id, 10)
}

// lastSeen is the id of the event that a watcher has seen last; 0 if it was another process's, or there is none.
func (r *Recorder) lastSeen(header string) uint64 {
	number, ours := strings.CutPrefix(header, r.process+":")
	id, err := strconv.ParseUint(number, 10, 64)
	if !ours || err != nil {
		return 0
	}
	return id
}
