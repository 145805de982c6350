package live

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/shop/api"
	"lockstep/internal/shop/sse"
)

// quietTime is after how long without a frame a watcher is told that there is none: a proxy would take the stream for dead.
const quietTime = 20 * time.Second

// slowTime is how long a watcher may take to read what it is sent, unless the hub says otherwise.
const slowTime = 5 * time.Second

// stream streams the frames of the run that is on as server-sent events, until the watcher leaves, is too slow, or the server ends. A
// watcher that comes back says by Last-Event-ID what it has seen.
func (h *Hub) stream(w http.ResponseWriter, r *http.Request) error {
	in, err := api.Language(r)
	if err != nil {
		return err
	}
	done, leave, err := h.watch()
	if err != nil {
		return err
	}
	defer leave()
	stream := sse.NewWriter(w)
	quiet := time.NewTicker(quietTime)
	defer quiet.Stop()
	for last := h.seen(r.Header.Get(sse.LastEventID)); ; {
		epoch, frames, news := h.framesAfter(last)
		stream.Within(cmp.Or(h.Slow, slowTime))
		for _, f := range frames {
			if stream.Write(sse.Event{ID: fmt.Sprintf("%s.%d", epoch, f.id), Name: f.name, Data: f.data[in]}) != nil {
				return nil
			}
			last = f.id
		}
		if stream.Flush() != nil {
			return nil
		}
		select {
		case <-news:
		case <-quiet.C:
			if stream.Comment("nothing new") != nil {
				return nil
			}
		case <-done:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}

// framesAfter gives the frames after one, and a channel that is closed when there are more.
func (h *Hub) framesAfter(last uint64) (epoch string, frames []*frame, news <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.epoch, h.log.after(last), h.log.news
}

// seen is the frame that a watcher has seen last; 0 if it is none of this log's.
func (h *Hub) seen(header string) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	number, ours := strings.CutPrefix(header, h.epoch+".")
	if !ours {
		return 0
	}
	id, _ := strconv.ParseUint(number, 10, 64) // what is no number is none
	return id
}
