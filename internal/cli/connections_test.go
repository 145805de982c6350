package cli

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/server"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// incompleteRequests are requests whose body never comes. Some of them reach no handler.
var incompleteRequests = []string{
	"GET /lock HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
	"POST /inventory/sale HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
	"GET /lock HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\nContent-Length: 9\r\n\r\n",
	"GET /lock HTTP/1.1\r\nHost: localhost\r\n",
}

// dial opens a connection and sends the beginning of a request.
func dial(t *testing.T, addr, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(suite.Patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A client that does not send its announced body, or does not read its answers, loses its connection, both at a server and at a front. A
// client that waits for a long sale keeps it.
func TestStalledConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	longer := (max(api.BodyTime, server.WriteTime) + time.Second).String()
	s := shoptest.Start(t, "--sale.think_time", longer)
	front := startCluster(t, "--replicas", "1", "--sale.think_time", longer)
	var clients sync.WaitGroup
	for _, addr := range []string{s.Addr, front.Addr} {
		for _, body := range []string{"", "{}"} {
			clients.Go(func() {
				buyer := shoptest.NewClient(t, addr)
				if status, text := buyer.Send("POST", "/inventory/sale", body); status != 200 {
					t.Errorf("a sale that takes %s: %d %s", longer, status, text)
				}
			})
		}
		for _, request := range incompleteRequests {
			conn := dial(t, addr, request)
			clients.Go(func() {
				text, err := io.ReadAll(conn)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%q keeps its connection; it got %q", request, text)
				}
				if strings.HasPrefix(request, "POST") && !strings.Contains(string(text), "400 Bad Request") {
					t.Errorf("%q was answered %q; want a 400", request, text)
				}
			})
		}
		deaf := dial(t, addr, "")
		if err := deaf.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		clients.Go(func() { // pipelines without reading: long answers soon fill the connection
			if err := deaf.SetWriteDeadline(time.Now().Add(suite.Patience)); err != nil {
				t.Error(err)
			}
			var err error
			for err == nil {
				_, err = io.WriteString(deaf, strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 100))
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a client that never reads keeps its connection")
			}
		})
	}
	clients.Wait()
}

// Stalled connections do not delay the end of a server, but a sale in flight does.
func TestServerEndsDespiteStalledConnections(t *testing.T) {
	t.Parallel()
	flags := []string{"--redis.embedded_addr", shoptest.AnyPort, "--lock.version", "v4", "--sale.think_time", "1500ms"}
	for name, args := range map[string][]string{"server": {"serve"}, "cluster": {"cluster", "--replicas", "1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := shoptest.UnusedAddr(t)
			_, finish := serve(t, append(append(args, "--server.addr", addr), flags...)...)
			s := shoptest.NewClient(t, addr)
			var open []net.Conn
			for range 40 {
				open = append(open, dial(t, addr, ""))
			}
			sold := make(chan int, 1)
			go func() { status, _ := s.Sell(); sold <- status }()
			suite.Eventually(t, "a sale is in flight", func() bool { return s.Report().InFlight == 1 })
			for i, conn := range open { // only now, so that their timeout is later than the end of the sale
				if _, err := io.WriteString(conn, incompleteRequests[i%len(incompleteRequests)]); err != nil {
					t.Error(err)
				}
			}
			if code := finish(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if status := <-sold; status != 200 {
				t.Errorf("the sale in flight was answered %d", status)
			}
			for i, conn := range open {
				text, err := io.ReadAll(conn)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%q was not cut off: %q, %v", incompleteRequests[i%len(incompleteRequests)], text, err)
				}
			}
		})
	}
}
