package shoptest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"lockstep/internal/test/suite"
	"lockstep/internal/witness"
)

// Watcher records the stream of GET /live.
type Watcher struct {
	client Client // client of the server
	stream Buffer // stream so far
}

// Watch follows GET /live until the test ends.
func (c Client) Watch() *Watcher {
	c.t.Helper()
	ctx, leave := context.WithCancel(c.t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL()+"/live", http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		c.t.Fatal(err)
	}
	w, over := &Watcher{client: c}, make(chan struct{})
	go func() {
		defer close(over)
		defer response.Body.Close()
		_, _ = io.Copy(&w.stream, response.Body)
	}()
	c.t.Cleanup(func() { leave(); <-over })
	return w
}

// String returns the stream so far.
func (w *Watcher) String() string { return w.stream.String() }

// AwaitText waits until the stream contains a text.
func (w *Watcher) AwaitText(text string) {
	w.client.t.Helper()
	suite.Eventually(w.client.t, "shown: "+text, func() bool { return strings.Contains(w.String(), text) })
}

// Events collects the events of GET /events until the test or the server ends. The channel gets the error that ended the stream, or nil.
func (c Client) Events() (*witness.Collector, <-chan error) {
	c.t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	c.t.Cleanup(client.CloseIdleConnections)
	collected, ended := witness.NewCollector(), make(chan error, 1)
	go func() {
		_, err := witness.Follow(c.t.Context(), client, c.URL()+"/events", "", collected.Collect)
		ended <- err
	}()
	return collected, ended
}

// Buffer is a bytes.Buffer that is safe for concurrent use.
type Buffer struct {
	mu   sync.Mutex   // guards text
	text bytes.Buffer // bytes written so far
}

// Write implements io.Writer.
func (b *Buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

// String returns the text written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
