package seat_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// events yields the events of a stream one by one. The stream waits until the loop's body has handled the event before.
func events(t *testing.T, s http.Handler, path string) iter.Seq[event] {
	t.Helper()
	return func(yield func(event) bool) {
		ctx, leave := context.WithCancel(t.Context())
		read, write := io.Pipe()
		var over sync.WaitGroup
		over.Go(func() {
			s.ServeHTTP(pipedResponse{httptest.NewRecorder(), write}, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
			_ = write.Close()
		})
		defer over.Wait()
		defer func() { leave(); _ = read.Close() }()
		for lines, name := bufio.NewScanner(read), ""; lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = text
			} else if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && !yield(event{name, text}) {
				return
			}
		}
	}
}

// pipedResponse is a response that is read while it is written.
type pipedResponse struct {
	*httptest.ResponseRecorder

	to io.Writer
}

func (p pipedResponse) Write(text []byte) (int, error) { return p.to.Write(text) }

// decodeData decodes the data of an event.
func decodeData[T any](t *testing.T, data string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// query encodes pairs of names and values.
func query(pairs ...string) string {
	q := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		q.Set(pair[0], pair[1])
	}
	return q.Encode()
}
