package live

import (
	"encoding/json"
	"fmt"
	"sync"

	"lockstep/internal/language"
)

// mostBytes is how much of frames is kept for those who come later, in one language; about half goes when it is more.
const mostBytes = 4 << 20

// frame is one that is sent.
type frame struct {
	id   uint64 // larger than those of the frames before
	name string // of the event
	in   func(language.Language) any

	mu   sync.Mutex
	text map[language.Language][]byte
}

// written gives the frame as it is sent. It is written once for all watchers of a language.
func (f *frame) written(epoch string, in language.Language) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text, is := f.text[in]; is {
		return text
	}
	text := fmt.Appendf(nil, "id: %s.%d\nevent: %s\ndata: %s\n\n", epoch, f.id, f.name, f.data(in))
	if f.text == nil {
		f.text = map[language.Language][]byte{}
	}
	f.text[in] = text
	return text
}

// data gives what the frame says.
func (f *frame) data(in language.Language) []byte {
	data, err := json.Marshal(f.in(in))
	if err != nil {
		panic(fmt.Sprintf("frame %s: %v", f.name, err)) // a bug: frames are plain values
	}
	return data
}

// size is about what the frame weighs.
func (f *frame) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := 300
	for _, text := range f.text {
		size = max(size, len(text))
	}
	return size
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
func (l *log) begin(name string, in func(language.Language) any) {
	l.kept, l.now, l.lost = nil, map[string]*frame{}, l.last
	l.add(name, in)
}

// add adds a frame that stays.
func (l *log) add(name string, in func(language.Language) any) {
	l.last++
	l.kept = append(l.kept, &frame{id: l.last, name: name, in: in})
	l.trim()
	l.tell()
}

// replace adds a frame that takes the place of the last one of that name.
func (l *log) replace(name string, in func(language.Language) any) {
	l.last++
	l.now[name] = &frame{id: l.last, name: name, in: in}
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
		size += f.size()
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
	sortFrames(frames)
	return frames
}
