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
const mostBytes = 4 << 20

// texts are what a frame says, in each language.
type texts map[language.Language]json.RawMessage

// inAll writes a frame's value in all languages.
func inAll(in func(language.Language) any) texts {
	all := texts{}
	for _, l := range language.All() {
		all[l] = written(in(l))
	}
	return all
}

func written(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a frame: %v", err)) // a bug: frames are plain values
	}
	return onlyLetters(text)
}

func same(value any) texts { return inAll(func(language.Language) any { return value }) }

// frame is one that is sent. It does not change any more.
type frame struct {
	id   uint64 // larger than those of the frames before
	name string // of the event
	data texts
}

// log is the frames of a run. Those that add something are kept, of those that replace the one before only the last.
type log struct {
	last uint64
	kept []*frame // from the run frame on
	now  map[string]*frame
	news chan struct{} // closed when there is another
	lost uint64        // id of the last that is kept no more, other than the run frame; 0: none
}

func newLog() *log { return &log{now: map[string]*frame{}, news: make(chan struct{})} }

// begin forgets everything, and adds the frame that a new run begins with.
func (l *log) begin(name string, data texts) {
	l.kept, l.now, l.lost = nil, map[string]*frame{}, l.last
	l.add(name, data)
}

// add adds a frame that stays.
func (l *log) add(name string, data texts) {
	l.last++
	l.kept = append(l.kept, &frame{l.last, name, data})
	l.trim()
	l.tell()
}

// replace adds a frame that takes the place of the last one of that name.
func (l *log) replace(name string, data texts) {
	l.last++
	l.now[name] = &frame{l.last, name, data}
	l.tell()
}

func (l *log) tell() {
	close(l.news)
	l.news = make(chan struct{})
}

// trim forgets the older half of the frames, but for the first, if they are too much.
func (l *log) trim() {
	if len(l.kept)%64 != 0 { // now and then will do
		return
	}
	size := 0
	for _, f := range l.kept {
		size += len(f.data[language.English])
	}
	if half := len(l.kept) / 2; size > mostBytes {
		l.lost = l.kept[half].id
		l.kept = append([]*frame{l.kept[0]}, l.kept[half+1:]...)
	}
}

// after gives the frames after one, in order; all, if that one is of another run, or too long ago.
func (l *log) after(id uint64) []*frame {
	if id < l.lost || id > l.last {
		id = 0
	}
	var frames []*frame
	for i := len(l.kept) - 1; i >= 0 && l.kept[i].id > id; i-- {
		frames = append(frames, l.kept[i])
	}
	for _, f := range l.now {
		if f.id > id {
			frames = append(frames, f)
		}
	}
	slices.SortFunc(frames, func(a, b *frame) int { return cmp.Compare(a.id, b.id) })
	return frames
}

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
		stream.Within(cmp.Or(h.WriteTimeout, slowTime))
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
