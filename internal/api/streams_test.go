package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"lockstep/internal/api/route"
)

// The number of streams is bounded, in all and for each client. A refused request may be repeated: a stream that ends makes room.
func TestStreamsAreBounded(t *testing.T) {
	streams, entered := &Streams{Max: 3, MaxPerClient: 2}, make(chan struct{})
	row := route.On("GET", "/events", route.Reader, route.Front, streams.Limit(func(_ http.ResponseWriter, r *http.Request) error {
		entered <- struct{}{}
		<-r.Context().Done()
		return nil
	}))
	watch := func(client string) (leave func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		watching.Go(func() {
			request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", http.NoBody)
			request.RemoteAddr = client + ":1"
			row.ServeHTTP(httptest.NewRecorder(), request)
		})
		<-entered
		return func() { cancel(); watching.Wait() }
	}
	refused := func(client string, want error) {
		t.Helper()
		request, answer := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", http.NoBody), httptest.NewRecorder()
		request.RemoteAddr = client + ":2"
		row.ServeHTTP(answer, request)
		var failure ErrorAnswer
		err := json.Unmarshal(answer.Body.Bytes(), &failure)
		if err != nil || answer.Code != http.StatusServiceUnavailable || failure.Error.Code != "busy" ||
			failure.Error.Message != want.Error() || answer.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v %s; want %v", client, answer.Code, answer.Header(), answer.Body, want)
		}
	}
	first, second := watch("192.0.2.1"), watch("192.0.2.1")
	refused("192.0.2.1", errTooManyOfClient)
	third := watch("192.0.2.2")
	refused("192.0.2.3", errTooManyStreams)
	first()
	watch("192.0.2.3")()
	second()
	third()
	if streams.open != 0 || len(streams.openByClient) != 0 {
		t.Errorf("%d streams are open, by client %v; want none", streams.open, streams.openByClient)
	}
	if (*Streams)(nil).Limit(row.Handle) == nil {
		t.Error("Bound of nil Streams returns nil")
	}
}
