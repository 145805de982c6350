package shoptest

import (
	"io"
	"net/http"
	"sync"
	"testing"

	"lockstep/internal/api"
)

// Crowd is a set of buyers. Each of them buys one piece after the other until Leave is called.
type Crowd struct {
	transport *http.Transport // connections of the buyers
	stop      chan struct{}   // closed by Leave
	buyers    sync.WaitGroup

	mu       sync.Mutex  // guards statuses
	statuses map[int]int // number of answers by status
}

// Gather starts n buyers at a client's server. A request without an answer fails the test.
func Gather(t testing.TB, server Client, n int) *Crowd {
	t.Helper()
	c := &Crowd{transport: &http.Transport{MaxIdleConnsPerHost: n}, stop: make(chan struct{}), statuses: map[int]int{}}
	client := &http.Client{Transport: c.transport}
	for range n {
		c.buyers.Go(func() {
			for {
				select {
				case <-c.stop:
					return
				default:
				}
				response, err := client.Post(server.URL()+api.SalePath, "", nil)
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

// Answers returns the number of answers so far with a status.
func (c *Crowd) Answers(status int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.statuses[status]
}

// Leave stops the buyers and returns the number of answers by status.
func (c *Crowd) Leave() map[int]int {
	close(c.stop)
	c.buyers.Wait()
	c.transport.CloseIdleConnections()
	return c.statuses
}
