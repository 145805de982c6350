package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lockstep/internal/test/suite"
)

// The address of a server that left accepts no connection, and is removed from DNS while nginx connects to it. Another server gets the
// requests that were not sent, each once.
func TestNginxReroutesUnsentRequests(t *testing.T) {
	needsNginx(t)
	t.Parallel()
	var got atomic.Int64
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) })
	shop := httptest.NewServer(count)
	t.Cleanup(shop.Close)
	_, port, err := net.SplitHostPort(shop.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	blackhole(t, "127.0.0.2:"+port)
	names := &nameServer{}
	names.set("shop1.", [4]byte{127, 0, 0, 2})
	names.set("shop2.", [4]byte{127, 0, 0, 1})
	front := startNginxWith(t, ":8080", ":"+port, "resolver 127.0.0.11", "resolver "+names.start(t),
		"proxy_connect_timeout 200ms", "proxy_connect_timeout 4s") // longer than nginx takes to look up the address again
	suite.Eventually(t, "nginx knows a shop", func() bool {
		_, text := front.Send("GET", "/healthz", "")
		return !strings.Contains(text, "no_replica")
	})
	requests := []string{"POST /inventory/sale", "PUT /inventory", "DELETE /lock", "POST /inventory/sale", "PUT /lock", "POST /inventory/sale"}
	answered := make(chan string, len(requests))
	send := func() {
		got.Store(0)
		for _, request := range requests {
			go func() {
				method, path, _ := strings.Cut(request, " ")
				status, text := front.Send(method, path, "{}")
				answered <- fmt.Sprintf("%s: %d %s", request, status, text)
			}()
		}
		suite.Eventually(t, "a request is not answered", func() bool { return len(answered) == int(got.Load()) && len(answered) >= 2 })
	}
	send()
	suite.Eventually(t, "nginx connects to the shop that is silent", func() bool {
		if len(answered) < len(requests) {
			return true
		}
		for range requests { // if the first request went to that server, nginx counts it as down for a while
			<-answered
		}
		send()
		return false
	})
	names.hosts.Delete("shop1.")
	for range requests {
		if answer := <-answered; !strings.Contains(answer, ": 200 ") {
			t.Errorf("%s; want 200", answer)
		}
	}
	if got.Load() != int64(len(requests)) {
		t.Errorf("the shop that stayed got %d requests; want each of %d once", got.Load(), len(requests))
	}
}

// blackhole listens at an address, but accepts no connection.
func blackhole(t *testing.T, addr string) {
	t.Helper()
	to := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr))
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		t.Cleanup(func() { _ = syscall.Close(fd) })
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())})
	}
	if err == nil {
		err = syscall.Listen(fd, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	for { // until the queue of connections is full
		conn, err := net.DialTimeout("tcp", addr, 300*time.Millisecond)
		if err != nil {
			return
		}
		t.Cleanup(func() { conn.Close() })
	}
}
