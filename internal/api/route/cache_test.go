package route

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"lockstep/internal/lock"
)

// An answer is computed once, even for concurrent requests, and has an ETag; a client that knows the ETag gets 304. Other query parameters
// do not matter. Errors are not cached.
func TestCachedAnswerIsMadeOnce(t *testing.T) {
	var computed, refused atomic.Int64
	row := On("GET", "/{name}", Reader, Replica, Cached(Value(func(r *http.Request) (string, error) {
		if r.PathValue("name") == "missing" {
			refused.Add(1)
			return "", lock.WithCode("not_found", "missing")
		}
		computed.Add(1)
		return r.PathValue("name") + " in " + r.URL.Query().Get("lang"), nil
	}), ByQuery("lang")))
	mux := Mux(row)
	ask := func(method, path, etag string) *httptest.ResponseRecorder {
		request, answer := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody), httptest.NewRecorder()
		request.Header.Set("If-None-Match", etag)
		mux.ServeHTTP(answer, request)
		return answer
	}
	var asking sync.WaitGroup
	for i := range 50 {
		asking.Go(func() { ask("GET", fmt.Sprintf("/a?lang=en&other=%d", i), "") })
	}
	asking.Wait()
	if computed.Load() != 1 {
		t.Errorf("one answer was computed %d times; want once", computed.Load())
	}
	tag := ask("GET", "/a?lang=en", "").Header().Get("ETag")
	for _, c := range []struct {
		name               string
		method, path, etag string
		status             int
		body               string
	}{
		{"GET", "GET", "/a?lang=en", "", 200, `"a in en"` + "\n"},
		{"HEAD", "HEAD", "/a?lang=en", "", 200, ""},
		{"known ETag", "GET", "/a?lang=en", tag, 304, ""},
		{"ETag of another language", "GET", "/a?lang=zh", tag, 200, `"a in zh"` + "\n"},
		{"ETag of another path", "GET", "/b?lang=en", tag, 200, `"b in en"` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := ask(c.method, c.path, c.etag)
			if answer.Code != c.status || answer.Body.String() != c.body || answer.Header().Get("Cache-Control") != "no-cache" {
				t.Errorf("got %d %v %q; want %d %q", answer.Code, answer.Header(), answer.Body, c.status, c.body)
			}
			if kind := answer.Header().Get("Content-Type"); c.status == http.StatusOK && kind != "application/json; charset=utf-8" {
				t.Errorf("got Content-Type %q; want JSON", kind)
			}
		})
	}
	for range 2 {
		if answer := ask("GET", "/missing?lang=en", ""); answer.Code != http.StatusNotFound || answer.Header().Get("ETag") != "" {
			t.Errorf("an error: %d %v; want 404 without an ETag", answer.Code, answer.Header())
		}
	}
	if computed.Load() != 3 || refused.Load() != 2 {
		t.Errorf("%d answers and %d errors were computed; want 3 and 2", computed.Load(), refused.Load())
	}
}

// A cached answer is served while another is being computed. The cache has a maximum size, and some answers are never cached.
func TestCacheIsBounded(t *testing.T) {
	making, goOn := make(chan struct{}), make(chan struct{})
	handle := Cached(func(w http.ResponseWriter, r *http.Request) error {
		if r.URL.Path == "/slow" {
			close(making)
			<-goOn
		}
		_, err := w.Write([]byte(r.URL.Path))
		return err
	}, ByQuery())
	ask := func(path string) (body string) {
		answer := httptest.NewRecorder()
		if err := handle(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)); err != nil {
			t.Error(err)
		}
		return answer.Body.String()
	}
	ask("/known")
	var slow sync.WaitGroup
	slow.Go(func() { ask("/slow") })
	<-making
	if body := ask("/known"); body != "/known" {
		t.Errorf("/known is %q; want /known", body)
	}
	close(goOn)
	slow.Wait()

	all, computed := &answerCache{all: map[string]*cachedAnswer{}}, 0
	all.handle = func(http.ResponseWriter, *http.Request) error { computed++; return nil }
	for i := range 10 * maxCachedAnswers {
		if _, err := all.find(fmt.Sprint(i), nil); err != nil || len(all.all) > maxCachedAnswers {
			t.Fatalf("%v, %d answers cached; want at most %d", err, len(all.all), maxCachedAnswers)
		}
	}
	if computed != 10*maxCachedAnswers {
		t.Errorf("%d answers were computed; want %d", computed, 10*maxCachedAnswers)
	}

	never := 0
	handle = Cached(func(http.ResponseWriter, *http.Request) error { never++; return nil },
		func(*http.Request) (string, bool) { return "", false })
	ask("/")
	ask("/")
	if never != 2 {
		t.Errorf("an answer that is not cached was computed %d times; want 2", never)
	}
}
