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
	"lockstep/internal/language"
)

// Watch records the stream GET /live of a server while a burst runs.
type Watch struct {
	target   string // base URL of the server
	language string // language of the texts: en or zh
	client   *http.Client
	cancel   context.CancelFunc
	ended    chan struct{} // closed when the stream has ended
	news     chan struct{} // holds a token after a new frame

	mu     sync.Mutex
	frames []Frame
	bytes  int // total size of the frames' data
}

// Bounds of a Watch: a misbehaving server must neither fill the memory nor delay the result of a burst.
const (
	maxFrameBytes = 8 << 20          // bytes of all frames, approximately
	maxEventBytes = 4 << 20          // bytes of one event
	maxPairBytes  = 1 << 20          // bytes of the drawing of two sales
	lastNewsTime  = 2 * time.Second  // longest wait for the last frames of a burst that has ended
	watchTimeout  = 10 * time.Second // time limit for the start of the stream, and for the drawings of all pairs
)

// ErrUnwatched is returned for a server whose GET /live cannot be read.
var ErrUnwatched = language.Translate(errors.New("the server cannot be watched"), "看不到服务器上发生了什么")

// StartWatch starts to record the stream of a server, until Close. language is the language of the texts: en or zh. It fails with
// ErrUnwatched.
func StartWatch(ctx context.Context, target, language string) (*Watch, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watch{
		target: target, language: language, client: NewClient(0, 1), cancel: cancel,
		ended: make(chan struct{}), news: make(chan struct{}, 1),
	}
	late := time.AfterFunc(watchTimeout, cancel)
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

// get sends a GET request to the server. It fails unless the status of the answer is 200.
func (w *Watch) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.target+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnwatched, &RequestError{Err: err})
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%w: GET %s: %d %s", ErrUnwatched, path, response.StatusCode, http.StatusText(response.StatusCode))
	}
	return response, nil
}

// read records frames until the stream ends. An error ends it early: a page of such a recording lacks the end.
func (w *Watch) read(response *http.Response) {
	for event, err := range sse.Read(response.Body, maxEventBytes) {
		if data := sanitize(event.Data); err == nil && data != nil && frameName.MatchString(event.Name) {
			w.record(Frame{event.Name, data})
		}
	}
}

// frameName matches the name of a frame.
var frameName = regexp.MustCompile(`^[a-z-]{1,40}$`)

// sanitize returns text, which is JSON, with the invisible characters in its strings replaced, such as escapes and bidi marks. It returns
// nil if text is not JSON.
func sanitize(text []byte) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if !json.Valid(text) || decoder.Decode(&value) != nil {
		return nil
	}
	if safe, err := json.Marshal(makeVisible(value)); err == nil {
		return safe
	}
	return nil
}

// makeVisible replaces the characters that are neither graphic nor a newline, in each string of a value.
func makeVisible(value any) any {
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
			v[i] = makeVisible(v[i])
		}
	case map[string]any:
		all := map[string]any{}
		for name, inner := range v {
			all[makeVisible(name).(string)] = makeVisible(inner)
		}
		return all
	}
	return value
}

// record records a frame. It skips lanes, which only show a moment. A new run discards all frames before it, and a tally or a story
// replaces the previous one.
func (w *Watch) record(frame Frame) {
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
	case w.bytes > maxFrameBytes:
		return
	}
	w.frames, w.bytes = append(w.frames, frame), w.bytes+len(frame.Data)
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// Frames returns the recorded frames. It first waits, for at most lastNewsTime, until the server has reported the end of the burst with
// this result.
func (w *Watch) Frames(ctx context.Context, result Result) []Frame {
	late, cancel := context.WithTimeout(ctx, lastNewsTime)
	defer cancel()
	for !w.hasSeenEnd(result) {
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

// hasSeenEnd reports whether the recording has the end of a burst: its tally and its last sale. Frames about locks come before them.
func (w *Watch) hasSeenEnd(result Result) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	var tally, sold bool
	for _, frame := range w.frames {
		switch frame.Name {
		case "tally":
			var now Result
			err := json.Unmarshal(frame.Data, &now)
			tally = err == nil && now.RunID == result.RunID && now.Sold == result.Sold && now.InFlight == 0
		case "stock":
			var points []struct{ Sold int64 }
			err := json.Unmarshal(frame.Data, &points)
			sold = err == nil && len(points) > 0 && points[len(points)-1].Sold >= result.Sold
		}
	}
	return tally && (sold || result.Sold == 0)
}

// Pairs returns a drawing of the two sales of each finding; see drawPairs.
func (w *Watch) Pairs(ctx context.Context, frames []Frame) map[string]json.RawMessage {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	return drawPairs(frames, func(a, b string) json.RawMessage { return w.pair(ctx, a, b) })
}

// pair returns the drawing of two sales; nil if the server has forgotten them.
func (w *Watch) pair(ctx context.Context, a, b string) (trace json.RawMessage) {
	response, err := w.get(ctx, "/live/pair", url.Values{"lang": {w.language}, "a": {a}, "b": {b}})
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxPairBytes+1))
	if err != nil || len(text) > maxPairBytes {
		return nil
	}
	return sanitize(text)
}

// Close ends the recording.
func (w *Watch) Close() {
	w.cancel()
	<-w.ended
}
