package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/api/sse"
	"lockstep/internal/language"
)

// maxLogBytes is the total size of the frames in one language above which the older half of the frames is dropped.
const maxLogBytes = 4 << 20

// localized is a frame's JSON in each language.
type localized map[language.Language]json.RawMessage

// localize encodes a frame in all languages. valueIn returns its value in a language.
func localize(valueIn func(language.Language) any) localized {
	all := localized{}
	for _, l := range language.All() {
		all[l] = mustMarshal(valueIn(l))
	}
	return all
}

// mustMarshal encodes a value as JSON, with the short names of sales.
func mustMarshal(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a frame: %v", err)) // It is a bug, because frames are plain values.
	}
	return stripReplicas(text)
}

// unlocalized encodes a value that has no texts, so it is the same in all languages.
func unlocalized(value any) localized { return localize(func(language.Language) any { return value }) }

// frame is an immutable entry of a frameLog: a frame with its id.
type frame struct {
	id   uint64    // larger than the ids of all earlier frames
	name string    // name of the server-sent event
	data localized // JSON of the frame
}

// frameLog holds the frames of a run for watchers who come later. Of frames that replace the frame before of the same name, it has only the
// last.
type frameLog struct {
	lastID      uint64            // id of the newest frame; 0: none
	appended    []*frame          // frames that do not replace others, beginning with the run frame
	latest      map[string]*frame // last frame of each name whose frames replace each other
	changed     chan struct{}     // closed when there is another frame
	lastDropped uint64            // id of the newest dropped frame; 0: none was dropped
}

// newFrameLog returns an empty log.
func newFrameLog() *frameLog {
	return &frameLog{latest: map[string]*frame{}, changed: make(chan struct{})}
}

// begin drops all frames, and adds the frame with which a new run begins.
func (l *frameLog) begin(name string, data localized) {
	l.appended, l.latest, l.lastDropped = nil, map[string]*frame{}, l.lastID
	l.add(name, data)
}

// add adds a frame that stays.
func (l *frameLog) add(name string, data localized) {
	l.lastID++
	l.appended = append(l.appended, &frame{l.lastID, name, data})
	l.trim()
	l.notifyWatchers()
}

// replace adds a frame that replaces the last one of its name.
func (l *frameLog) replace(name string, data localized) {
	l.lastID++
	l.latest[name] = &frame{l.lastID, name, data}
	l.notifyWatchers()
}

// notifyWatchers wakes up all watchers.
func (l *frameLog) notifyWatchers() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// trim drops the older half of the frames, except the first, if their size exceeds maxLogBytes.
func (l *frameLog) trim() {
	if len(l.appended)%64 != 0 { // Checking every 64th time is enough.
		return
	}
	size := 0
	for _, f := range l.appended {
		size += len(f.data[language.English])
	}
	if half := len(l.appended) / 2; size > maxLogBytes {
		l.lastDropped = l.appended[half].id
		l.appended = append([]*frame{l.appended[0]}, l.appended[half+1:]...)
	}
}

// framesAfter returns the frames after an id, in order. If the id belongs to another run, or to a dropped frame, it returns all frames.
func (l *frameLog) framesAfter(id uint64) []*frame {
	if id < l.lastDropped || id > l.lastID {
		id = 0
	}
	var frames []*frame
	for i := len(l.appended) - 1; i >= 0 && l.appended[i].id > id; i-- {
		frames = append(frames, l.appended[i])
	}
	for _, f := range l.latest {
		if f.id > id {
			frames = append(frames, f)
		}
	}
	slices.SortFunc(frames, func(a, b *frame) int { return cmp.Compare(a.id, b.id) })
	return frames
}

// keepAliveInterval is the time without a frame after which a watcher gets a comment, because a proxy may close a silent stream after 30 s
// or longer.
const keepAliveInterval = 20 * time.Second

// defaultWriteTimeout is Hub.WriteTimeout if that is 0.
const defaultWriteTimeout = 5 * time.Second

// stream handles GET /live: it streams the frames of the current run as server-sent events, until the watcher leaves or is too slow, or the
// server shuts down. A returning watcher sends the id of the last frame that it received in Last-Event-ID.
func (h *Hub) stream(w http.ResponseWriter, r *http.Request) error {
	in, err := api.Language(r)
	if err != nil {
		return err
	}
	stopped, leave, err := h.addWatcher()
	if err != nil {
		return err
	}
	defer leave()
	stream := sse.NewWriter(w)
	keepAlive := time.NewTicker(keepAliveInterval)
	defer keepAlive.Stop()
	for last := h.lastSeenID(r.Header.Get(sse.LastEventID)); ; {
		epoch, frames, changed := h.framesAfter(last)
		stream.SetWriteTimeout(cmp.Or(h.WriteTimeout, defaultWriteTimeout))
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
		case <-changed:
		case <-keepAlive.C:
			if stream.Comment("nothing new") != nil {
				return nil
			}
		case <-stopped:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}

// framesAfter returns the frames after an id, the prefix of their ids, and a channel that is closed when there are more.
func (h *Hub) framesAfter(last uint64) (epoch string, frames []*frame, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.epoch, h.log.framesAfter(last), h.log.changed
}

// lastSeenID returns the id of the last frame that a watcher received, from the header Last-Event-ID; 0 if it belongs to another log.
func (h *Hub) lastSeenID(header string) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	number, ok := strings.CutPrefix(header, h.epoch+".")
	if !ok {
		return 0
	}
	id, _ := strconv.ParseUint(number, 10, 64) // a malformed number counts as 0
	return id
}
