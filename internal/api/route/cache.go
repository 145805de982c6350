package route

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxCachedAnswers limits the cached answers of one handler; the cache is emptied when it is full.
const maxCachedAnswers = 256

// Key returns the cache key of a request: requests with equal keys have the same answer. ok is false if the answer must not be cached.
type Key func(*http.Request) (key string, ok bool)

// ByQuery returns the Key for answers that depend only on the path and on the given query parameters.
func ByQuery(parameters ...string) Key {
	return func(r *http.Request) (string, bool) {
		key, query := []string{r.URL.Path}, r.URL.Query()
		for _, name := range parameters {
			key = append(key, query.Get(name))
		}
		return strings.Join(key, "\x00"), true
	}
}

// Cached returns a handler that caches the answers of handle. It computes one answer at a time, and each once until the cache is emptied.
// An answer is cached as bytes, with an ETag. Errors are not cached.
func Cached(handle Handler, key Key) Handler {
	all := &answerCache{handle: handle, all: map[string]*cachedAnswer{}}
	return func(w http.ResponseWriter, r *http.Request) error {
		name, ok := key(r)
		if !ok {
			return handle(w, r)
		}
		found, err := all.find(name, r)
		if err == nil {
			maps.Copy(w.Header(), found.header)
			r.Header.Del("Range") // The answer is always sent whole.
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(found.body.Bytes()))
		}
		return err
	}
}

// answerCache caches the answers of one handler.
type answerCache struct {
	handle    Handler
	computing sync.Mutex // held while an answer is computed

	mu  sync.Mutex // guards all; not held while an answer is computed, so that cached answers need not wait
	all map[string]*cachedAnswer
}

// find returns the answer with this name. It computes the answer if it is not cached.
func (a *answerCache) find(name string, r *http.Request) (*cachedAnswer, error) {
	if found := a.known(name); found != nil {
		return found, nil
	}
	a.computing.Lock()
	defer a.computing.Unlock()
	if found := a.known(name); found != nil {
		return found, nil
	}
	made := &cachedAnswer{header: http.Header{}}
	if err := a.handle(made, r); err != nil {
		return nil, err
	}
	made.header.Set("ETag", fmt.Sprintf(`"%.8x"`, sha256.Sum256(made.body.Bytes())))
	made.header.Set("Cache-Control", "no-cache")
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.all) >= maxCachedAnswers {
		clear(a.all)
	}
	a.all[name] = made
	return made, nil
}

// known returns the cached answer with this name; nil if there is none.
func (a *answerCache) known(name string) *cachedAnswer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[name]
}

// cachedAnswer is a cached answer and the http.ResponseWriter that records it. Its status is 200, because every other status is an error.
type cachedAnswer struct {
	header http.Header
	body   bytes.Buffer
}

func (k *cachedAnswer) Header() http.Header                { return k.header }
func (*cachedAnswer) WriteHeader(int)                      {}
func (k *cachedAnswer) Write(text []byte) (n int, _ error) { return k.body.Write(text) }
