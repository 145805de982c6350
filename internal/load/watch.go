package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"lockstep/internal/api/sse"
)

// Watch collects what a server shows of a run, GET /live, while a burst is on.
type Watch struct {
	target   string
	language string
	client   *http.Client
	cancel   context.CancelFunc
	ended    chan struct{} // closed when the stream has ended
	news     chan struct{} // something has been kept

	mu     sync.Mutex
	frames []Frame
	bytes  int
}

// The bounds of what a Watch keeps, and how long it waits for the last news of a burst that is over.
const (
	mostWatched = 8 << 20 // bytes of frames
	longestLine = 4 << 20
	mostPair    = 1 << 20 // bytes
	lastNews    = 2 * time.Second
	watchTime   = 10 * time.Second // of a stream to begin, and of all pairs
)

// ErrUnwatched means that a server cannot be watched.
var ErrUnwatched = errors.New("the server cannot be watched")

// Watched begins to watch a server, until Close. Its texts are in the language that is named: en or zh.
func Watched(ctx context.Context, target, language string) (*Watch, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watch{
		target: target, language: language, client: NewClient(0, 1), cancel: cancel,
		ended: make(chan struct{}), news: make(chan struct{}, 1),
	}
	late := time.AfterFunc(watchTime, cancel)
	response, err := w.get(ctx, "/live", url.Values{"lang": {language}}) //nolint:bodyclose // the goroutine below closes it
	late.Stop()
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(w.ended)
		defer response.Body.Close()
		w.read(response)
	}()
	return w, nil
}

func (w *Watch) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.target+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnwatched, &FailedError{Err: err})
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%w: GET %s: %d %s", ErrUnwatched, path, response.StatusCode, http.StatusText(response.StatusCode))
	}
	return response, nil
}

// read keeps frames until the stream ends: what is missing then, the page that is made of them does not show.
func (w *Watch) read(response *http.Response) {
	for event, err := range sse.Read(response.Body, longestLine) {
		if data := escaped(event.Data); err == nil && data != nil && frameName.MatchString(event.Name) {
			w.keep(Frame{event.Name, data})
		}
	}
}

// frameName is what the name of a frame looks like.
var frameName = regexp.MustCompile(`^[a-z-]{1,40}$`)

// escaped returns JSON whose texts have no character that nobody sees, such as an escape or a mark of direction; nil, if it is no JSON.
func escaped(text []byte) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if !json.Valid(text) || decoder.Decode(&value) != nil {
		return nil
	}
	if made, err := json.Marshal(visible(value)); err == nil {
		return made
	}
	return nil
}

// visible replaces in each text of a value what is neither a sign nor a space, but for ends of lines.
func visible(value any) any {
	switch v := value.(type) {
	case string:
		return strings.Map(func(r rune) rune {
			if strconv.IsGraphic(r) || r == '\n' {
				return r
			}
			return utf8.RuneError
		}, v)
	case []any:
		for i := range v {
			v[i] = visible(v[i])
		}
	case map[string]any:
		all := map[string]any{}
		for name, inner := range v {
			all[visible(name).(string)] = visible(inner)
		}
		return all
	}
	return value
}

// keep keeps a frame, but for the lanes, which are of a moment. A run that is new makes all before it old.
func (w *Watch) keep(frame Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var run struct{ Fresh bool }
	switch {
	case frame.Name == "lanes":
		return
	case frame.Name == "run" && json.Unmarshal(frame.Data, &run) == nil && run.Fresh:
		w.frames, w.bytes = nil, 0
	case frame.Name == "tally", frame.Name == "story":
		w.frames = slices.DeleteFunc(w.frames, func(f Frame) bool { return f.Name == frame.Name })
	case w.bytes > mostWatched:
		return
	}
	w.frames, w.bytes = append(w.frames, frame), w.bytes+len(frame.Data)
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// Frames waits until the server has told all of a burst, but not for long, and gives what was kept.
func (w *Watch) Frames(ctx context.Context, of Result) []Frame {
	late, cancel := context.WithTimeout(ctx, lastNews)
	defer cancel()
	for !w.hasSeenEnd(of) {
		select {
		case <-w.news:
			continue
		case <-w.ended:
		case <-late.Done():
		}
		break
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.frames)
}

// hasSeenEnd reports whether the server has told of the end of a burst: its tally, and the last sale. News of locks come before that.
func (w *Watch) hasSeenEnd(of Result) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	var tally, sold bool
	for _, frame := range w.frames {
		switch frame.Name {
		case "tally":
			var now Result
			err := json.Unmarshal(frame.Data, &now)
			tally = err == nil && now.RunID == of.RunID && now.Sold == of.Sold && now.InFlight == 0
		case "stock":
			var points []struct{ Sold int64 }
			err := json.Unmarshal(frame.Data, &points)
			sold = err == nil && len(points) > 0 && points[len(points)-1].Sold >= of.Sold
		}
	}
	return tally && (sold || of.Sold == 0)
}

// Pairs returns what the two sales of each finding did: see drawPairs.
func (w *Watch) Pairs(ctx context.Context, frames []Frame) map[string]json.RawMessage {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	return drawPairs(frames, func(a, b string) json.RawMessage { return w.pair(ctx, a, b) })
}

// pair returns one of them; nil if the server does not know it any more.
func (w *Watch) pair(ctx context.Context, a, b string) (trace json.RawMessage) {
	response, err := w.get(ctx, "/live/pair", url.Values{"lang": {w.language}, "a": {a}, "b": {b}})
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostPair+1))
	if err != nil || len(text) > mostPair {
		return nil
	}
	return escaped(text)
}

// Close ends the watch.
func (w *Watch) Close() {
	w.cancel()
	<-w.ended
}
