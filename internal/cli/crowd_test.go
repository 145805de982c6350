package cli

import (
	"io"
	"net/http"
	"sync"
	"testing"
)

// crowd is buyers who buy, one item after the other, until they leave.
type crowd struct {
	transport *http.Transport
	stop      chan struct{}
	buyers    sync.WaitGroup

	mu       sync.Mutex
	statuses map[int]int
}

// gather lets n buyers loose on a server. That a request is not answered is an error.
func gather(t *testing.T, s *testServer, n int) *crowd {
	t.Helper()
	c := &crowd{transport: &http.Transport{MaxIdleConnsPerHost: n}, stop: make(chan struct{}), statuses: map[int]int{}}
	client := &http.Client{Transport: c.transport}
	for range n {
		c.buyers.Go(func() {
			for {
				select {
				case <-c.stop:
					return
				default:
				}
				response, err := client.Post(s.url()+"/inventory/sale", "", nil)
				if err != nil {
					t.Errorf("unanswered: %v", err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				c.mu.Lock()
				c.statuses[response.StatusCode]++
				c.mu.Unlock()
			}
		})
	}
	return c
}

// answers counts the answers so far with that status.
func (c *crowd) answers(status int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.statuses[status]
}

// leave ends the buying and gives the answers by their status.
func (c *crowd) leave() map[int]int {
	close(c.stop)
	c.buyers.Wait()
	c.transport.CloseIdleConnections()
	return c.statuses
}
