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

// mostKept is how many answers of a handler are kept.
const mostKept = 256

// Key names the answer to a request. It is the same for requests that are answered alike; false: the answer is not to be kept.
type Key func(*http.Request) (string, bool)

// ByQuery returns the key of answers that depend on the path and on these parameters of the query alone.
func ByQuery(parameters ...string) Key {
	return func(r *http.Request) (string, bool) {
		key, query := []string{r.URL.Path}, r.URL.Query()
		for _, name := range parameters {
			key = append(key, query.Get(name))
		}
		return strings.Join(key, "\x00"), true
	}
}

// Kept returns the handler that answers as another does, and makes each of its answers once, one at a time. An answer is kept as bytes,
// with an ETag. Errors are not kept.
func Kept(handle Handler, key Key) Handler {
	all := &answers{handle: handle, all: map[string]*kept{}}
	return func(w http.ResponseWriter, r *http.Request) error {
		name, constant := key(r)
		if !constant {
			return handle(w, r)
		}
		found, err := all.find(name, r)
		if err == nil {
			maps.Copy(w.Header(), found.header)
			r.Header.Del("Range") // it is sent whole
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(found.body.Bytes()))
		}
		return err
	}
}

// answers are those of a handler.
type answers struct {
	handle Handler
	making sync.Mutex // held while one is made

	mu  sync.Mutex // not held meanwhile: those that are known wait for nobody
	all map[string]*kept
}

func (a *answers) find(name string, r *http.Request) (*kept, error) {
	if found := a.known(name); found != nil {
		return found, nil
	}
	a.making.Lock()
	defer a.making.Unlock()
	if found := a.known(name); found != nil {
		return found, nil
	}
	made := &kept{header: http.Header{}}
	if err := a.handle(made, r); err != nil {
		return nil, err
	}
	made.header.Set("ETag", fmt.Sprintf(`"%.8x"`, sha256.Sum256(made.body.Bytes())))
	made.header.Set("Cache-Control", "no-cache")
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.all) >= mostKept {
		clear(a.all)
	}
	a.all[name] = made
	return made, nil
}

func (a *answers) known(name string) *kept {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[name]
}

// kept is an answer, and the http.ResponseWriter that it is first written to. Its status is 200: other answers are errors.
type kept struct {
	header http.Header
	body   bytes.Buffer
}

func (k *kept) Header() http.Header                { return k.header }
func (*kept) WriteHeader(int)                      {}
func (k *kept) Write(text []byte) (n int, _ error) { return k.body.Write(text) }
