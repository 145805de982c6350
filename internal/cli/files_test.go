//go:build unix

package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/internal/shop/load"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// More buyers than files may be open are refused before anything begins, by the numbers.
func TestBurstWithinTheFileLimit(t *testing.T) {
	suite.Needs(t, "sh")
	silent := shoptest.UnusedAddr(t)
	for _, c := range []struct {
		files, buyers, requests int
		says                    string
	}{
		{600, 201, 201, "-c 201 is not allowed: so many buyers need 602 open files at once, and this process may have 600: " +
			"raise the limit first (ulimit -n 602), or let fewer come at once"},
		{600, 201, 20, "verdict"}, // twenty requests are of twenty buyers at once
	} {
		line := fmt.Sprintf(`ulimit -n %d && exec "$0" burst -c %d -n %d --lock v4 --server.addr %s`, c.files, c.buyers, c.requests, silent)
		output, _ := exec.CommandContext(t.Context(), "sh", "-c", line, os.Args[0]).CombinedOutput()
		if !strings.Contains(string(output), c.says) {
			t.Errorf("%s\n%swant %q", line, output, c.says)
		}
	}
}

// With few files a shop goes on: strangers take no place of a buyer's by the embedded Redis' port, nor by streams. It says that it is
// ready, and ends when it is told to.
func TestSellsThoughFilesRunOut(t *testing.T) {
	t.Parallel()
	suite.Needs(t, "sh")
	for _, as := range []string{"serve", "cluster --replicas 2"} {
		t.Run(as, func(t *testing.T) {
			addr, redis := shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
			line := fmt.Sprintf(`ulimit -n 256 && exec "$0" %s --server.addr %s --redis.embedded_addr %s --lock.version v4`, as, addr, redis)
			shop := exec.CommandContext(t.Context(), "sh", "-c", line, os.Args[0])
			ended := make(chan error, 1)
			if err := shop.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { ended <- shop.Wait() }()
			client := shoptest.At(t, addr)
			suite.Eventually(t, "the shop is up", func() bool { return load.Probe(t.Context(), "http://"+addr) == nil })
			for range 300 {
				if conn, err := net.Dial("tcp", redis); err == nil {
					t.Cleanup(func() { _ = conn.Close() })
				}
			}
			for range 200 { // at once: nobody waits for an answer
				dial(t, addr, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
			}
			sell := func() int { return client.Ask(http.MethodPost, "/inventory/sale", "", nil) }
			suite.Eventually(t, "those that are too many are refused", func() bool { return sell() == http.StatusOK })
			for range 20 {
				if status := sell(); status != http.StatusOK {
					t.Errorf("a buyer beside them: %d", status)
				}
			}
			if status := client.Ask(http.MethodGet, "/readyz", "", nil); status != http.StatusOK {
				t.Errorf("GET /readyz: %d", status)
			}
			if err := shop.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(suite.Patience):
				t.Error("it does not end")
			}
		})
	}
}
