package live

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/shop/api"
	"lockstep/internal/watch/witness"
)

// quietTime is after how long without a frame a watcher is told that there is none: a proxy would take the stream for dead.
const quietTime = 20 * time.Second

// slowTime is how long a watcher may take to read what it is sent, unless the hub says otherwise.
const slowTime = 5 * time.Second

var errEnding = errors.New("the server is ending")

// ServeHTTP streams the frames of the run that is on as server-sent events, until the watcher leaves, is too slow, or the server ends. A
// watcher that comes back says by Last-Event-ID what it has seen.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in, err := languageOf(r)
	if err != nil {
		api.WriteError(w, http.StatusBadRequest, "bad_request", err)
		return
	}
	leave, ok := h.watch()
	if !ok {
		api.WriteError(w, http.StatusServiceUnavailable, "ending", errEnding)
		return
	}
	defer leave()
	witness.BeginStream(w)
	control := http.NewResponseController(w)
	quiet := time.NewTicker(quietTime)
	defer quiet.Stop()
	for last := h.seen(r.Header.Get(witness.LastEventID)); ; {
		epoch, frames, news := h.framesAfter(last)
		_ = control.SetWriteDeadline(time.Now().Add(cmp.Or(h.Slow, slowTime))) // not every ResponseWriter can
		for _, f := range frames {
			if _, err := w.Write(f.written(epoch, in)); err != nil {
				return
			}
			last = f.id
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-news:
		case <-quiet.C:
			if _, err := io.WriteString(w, ": nothing new\n\n"); err != nil {
				return
			}
		case <-h.closed:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// framesAfter gives the frames after one, and a channel that is closed when there are more.
func (h *Hub) framesAfter(last uint64) (epoch string, frames []*frame, news <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.log == nil { // it is closed, or about to be
		return "", nil, h.closed
	}
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

// languageOf is the language that a request asks for.
func languageOf(r *http.Request) (language.Language, error) {
	name := r.URL.Query().Get("lang")
	if name == "" {
		return language.English, nil
	}
	return language.Parse(name)
}
