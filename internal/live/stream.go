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

// mostBytes is how much of frames is kept for those who come later, in one language; about half goes when it is more.
const maxLogBytes = 4 << 20

// texts are what a frame says, in each language.
type localized map[language.Language]json.RawMessage

// inAll writes a frame's value in all languages.
func localize(in func(language.Language) any) localized {
	all := localized{}
	for _, l := range language.All() {
		all[l] = mustMarshal(in(l))
	}
	return all
}

func mustMarshal(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a frame: %v", err)) // a bug: frames are plain values
	}
	return stripReplicas(text)
}

func unlocalized(value any) localized { return localize(func(language.Language) any { return value }) }

// frame is one that is sent. It does not change any more.
type frame struct {
	id   uint64 // larger than those of the frames before
	name string // of the event
	data localized
}

// log is the frames of a run. Those that add something are kept, of those that replace the one before only the last.
type frameLog struct {
	lastID      uint64
	appended    []*frame // from the run frame on
	replaced    map[string]*frame
	changed     chan struct{} // closed when there is another
	lastDropped uint64        // id of the last that is kept no more, other than the run frame; 0: none
}

func newFrameLog() *frameLog {
	return &frameLog{replaced: map[string]*frame{}, changed: make(chan struct{})}
}

// begin forgets everything, and adds the frame that a new run begins with.
func (l *frameLog) begin(name string, data localized) {
	l.appended, l.replaced, l.lastDropped = nil, map[string]*frame{}, l.lastID
	l.add(name, data)
}

// add adds a frame that stays.
func (l *frameLog) add(name string, data localized) {
	l.lastID++
	l.appended = append(l.appended, &frame{l.lastID, name, data})
	l.trim()
	l.notifyWatchers()
}

// replace adds a frame that takes the place of the last one of that name.
func (l *frameLog) replace(name string, data localized) {
	l.lastID++
	l.replaced[name] = &frame{l.lastID, name, data}
	l.notifyWatchers()
}

func (l *frameLog) notifyWatchers() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// trim forgets the older half of the frames, but for the first, if they are too much.
func (l *frameLog) trim() {
	if len(l.appended)%64 != 0 { // now and then will do
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

// after gives the frames after one, in order; all, if that one is of another run, or too long ago.
func (l *frameLog) after(id uint64) []*frame {
	if id < l.lastDropped || id > l.lastID {
		id = 0
	}
	var frames []*frame
	for i := len(l.appended) - 1; i >= 0 && l.appended[i].id > id; i-- {
		frames = append(frames, l.appended[i])
	}
	for _, f := range l.replaced {
		if f.id > id {
			frames = append(frames, f)
		}
	}
	slices.SortFunc(frames, func(a, b *frame) int { return cmp.Compare(a.id, b.id) })
	return frames
}

// quietTime is after how long without a frame a watcher is told that there is none: a proxy would take the stream for dead.
const keepAliveInterval = 20 * time.Second

// slowTime is how long a watcher may take to read what it is sent, unless the hub says otherwise.
const defaultWriteTimeout = 5 * time.Second

// stream streams the frames of the run that is on as server-sent events, until the watcher leaves, is too slow, or the server ends. A
// watcher that comes back says by Last-Event-ID what it has seen.
func (h *Hub) stream(w http.ResponseWriter, r *http.Request) error {
	in, err := api.Language(r)
	if err != nil {
		return err
	}
	done, leave, err := h.addWatcher()
	if err != nil {
		return err
	}
	defer leave()
	stream := sse.NewWriter(w)
	quiet := time.NewTicker(keepAliveInterval)
	defer quiet.Stop()
	for last := h.lastSeenID(r.Header.Get(sse.LastEventID)); ; {
		epoch, frames, news := h.framesAfter(last)
		stream.Within(cmp.Or(h.WriteTimeout, defaultWriteTimeout))
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
	return h.epoch, h.log.after(last), h.log.changed
}

// seen is the frame that a watcher has seen last; 0 if it is none of this log's.
func (h *Hub) lastSeenID(header string) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	number, ours := strings.CutPrefix(header, h.epoch+".")
	if !ours {
		return 0
	}
	id, _ := strconv.ParseUint(number, 10, 64) // what is no number is none
	return id
}
