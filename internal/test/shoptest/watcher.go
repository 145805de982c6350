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

// Watcher records the frames of GET /live.
type Watcher struct {
	at   Client
	text Buffer
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
	w, over := &Watcher{at: c}, make(chan struct{})
	go func() {
		defer close(over)
		defer response.Body.Close()
		_, _ = io.Copy(&w.text, response.Body)
	}()
	c.t.Cleanup(func() { leave(); <-over })
	return w
}

// String returns all that was shown so far.
func (w *Watcher) String() string { return w.text.String() }

// Until waits until a text has been shown.
func (w *Watcher) Until(text string) {
	w.at.t.Helper()
	suite.Eventually(w.at.t, "shown: "+text, func() bool { return strings.Contains(w.String(), text) })
}

// Events follows GET /events until the test, or the server, ends.
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

// Buffer may be read while it is written.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
