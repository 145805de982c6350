// Package shoptest opens shops for tests, and sends them requests over HTTP.
package shoptest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/load"
	"lockstep/internal/service/history"
)

// Client sends requests to a server or a cluster's reverse proxy.
type Client struct {
	Addr string // host:port

	t testing.TB // test that a failed request fails
}

// NewClient returns a client of the server at an address.
func NewClient(t testing.TB, addr string) Client { return Client{addr, t} }

// URL returns the server's URL.
func (c Client) URL() string { return "http://" + c.Addr }

// Answer is a response. The zero Answer means that there was none.
type Answer struct {
	Status int // HTTP status
	Header http.Header
	Text   string // body
}

// Do sends a request and reads its answer. header may have a Host. Do fails the test if there is no answer, unless ctx has ended.
func (c Client) Do(ctx context.Context, method, path, body string, header http.Header) Answer {
	c.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, c.URL()+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Host = header.Get("Host") // net/http sends this host, and not that of the header; empty: the address
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if ctx.Err() == nil {
			c.t.Errorf("%s %s: %v", method, path, err)
		}
		return Answer{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Errorf("%s %s: %v", method, path, err)
	}
	return Answer{response.StatusCode, response.Header, string(text)}
}

// Send sends a request, and returns the answer's status and body.
func (c Client) Send(method, path, body string) (int, string) {
	c.t.Helper()
	answer := c.Do(c.t.Context(), method, path, body, nil)
	return answer.Status, answer.Text
}

// Ask sends a request, decodes the JSON of the answer into into, unless it is nil, and returns the status.
func (c Client) Ask(method, path, body string, into any) int {
	c.t.Helper()
	status, text := c.Send(method, path, body)
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			c.t.Fatalf("%s: %v", text, err)
		}
	}
	return status
}

// Sell requests one sale. code is the error code; "": the sale was made.
func (c Client) Sell() (status int, code string) {
	c.t.Helper()
	var answer api.ErrorAnswer
	status = c.Ask(http.MethodPost, api.SalePath, "", &answer)
	return status, answer.Error.Code
}

// StartSale starts a sale in the background. leave cancels its request and waits for its end.
func (c Client) StartSale() (leave func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	var buyer sync.WaitGroup
	buyer.Go(func() { c.Do(ctx, http.MethodPost, api.SalePath, "", nil) })
	return func() { cancel(); buyer.Wait() }
}

// Report returns the report of the current run.
func (c Client) Report() (report history.Report) {
	c.t.Helper()
	if status := c.Ask(http.MethodGet, "/inventory", "", &report); status != http.StatusOK {
		c.t.Fatalf("GET /inventory: %d", status)
	}
	return report
}

// Switch switches the lock.
func (c Client) Switch(version string) {
	c.t.Helper()
	if status, text := c.Send(http.MethodPut, "/lock", `{"version":"`+version+`"}`); status != http.StatusOK {
		c.t.Errorf("PUT /lock %s: %d %s", version, status, text)
	}
}

// Burst runs a burst of buyers under a lock, with one piece in stock for each.
func (c Client) Burst(buyers int, lock string) load.Result {
	c.t.Helper()
	result, err := load.Burst{
		Targets: []string{c.URL()}, Requests: buyers, Buyers: buyers, Stock: int64(buyers), Lock: lock,
		Timeout: 2 * time.Minute, Progress: func(int) {}, MinAnswered: 0.99,
	}.Run(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return result
}
