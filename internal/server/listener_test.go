package server

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"lockstep/internal/load"
)

// connected is a client of a server.
type connected struct {
	net.Conn

	answers *bufio.Reader
}

func connect(t *testing.T, addr string) connected {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return connected{conn, bufio.NewReader(conn)}
}

// ask sends a request, such as GET /lock, and returns its answer with its body.
func (c connected) ask(t *testing.T, request string) answerSeen {
	t.Helper()
	if _, err := io.WriteString(c, request+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		t.Fatalf("%s on an open connection: %v", request, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answerSeen{response.StatusCode, string(body), response.Close, response.Header}
}

// answerSeen is an answer as a client sees it.
type answerSeen struct {
	status int
	body   string
	closes bool // the connection
	header http.Header
}

// A client that connects when all places are taken is answered busy at once, and is served as soon as a place is free. The server keeps a
// connection open after an answer only while few are taken.
func TestConnectionsAreBounded(t *testing.T) {
	const most = 4
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "sold") })
	web := newWebServer(handler, "r1", slog.New(slog.DiscardHandler), load.Capacity{Connections: most, Overflow: 2})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, addr := web.start(listener), listener.Addr().String()
	var inside []connected
	for i := range most {
		one := connect(t, addr)
		inside = append(inside, one)
		if i < most/2 {
			if got := one.ask(t, "GET /"); got.body != "sold" || got.closes {
				t.Errorf("buyer %d: %s, %v; want the connection to be kept", i, got.body, got.header)
			}
		}
	}
	for path, want := range map[string]string{"/": `"code":"busy"`, "/healthz": "sold"} {
		got := connect(t, addr).ask(t, "GET "+path)
		if !strings.Contains(got.body, want) || !got.closes || path == "/" && got.header.Get("Retry-After") == "" {
			t.Errorf("one too many asks for %s: %s %v; want %s", path, got.body, got.header, want)
		}
	}
	if got := inside[most-1].ask(t, "GET /"); got.body != "sold" || !got.closes {
		t.Errorf("the last that had a place: %s, %v; want the connection to be closed after it", got.body, got.header)
	}
	for body := ""; body != "sold"; { // until the server has noticed that there is a place
		body = connect(t, addr).ask(t, "GET /").body
	}
	if err := web.http.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != http.ErrServerClosed { //nolint:errorlint // as net/http gives it
		t.Errorf("it ended with %v", err)
	}
}

// Clients that send half a request hold the overflow places only for a moment, so clients that connect after them are answered.
func TestHalfSentRequestsDoNotKeepOthersOut(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "sold") })
	web := newWebServer(handler, "r1", slog.New(slog.DiscardHandler), load.Capacity{Connections: 2, Overflow: 2})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, addr := web.start(listener), listener.Addr().String()
	for range 40 { // by their time to send a header, more than connect allows
		if _, err := io.WriteString(connect(t, addr), "GET / HTTP/1.1\r\nHost: lo"); err != nil {
			t.Fatal(err)
		}
	}
	if got := connect(t, addr).ask(t, "GET /"); !strings.Contains(got.body, `"code":"busy"`) && got.body != "sold" {
		t.Errorf("%s %v; want an answer", got.body, got.header)
	}
	if err := web.http.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("it ended with %v", err)
	}
}

// A listener can be closed while all of its places are taken.
func TestFullListenerCloses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	bound := newBoundListener(listener, load.Capacity{Connections: 1})
	connect(t, listener.Addr().String())
	conn, err := bound.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	accepted := make(chan error, 1)
	go func() {
		_, err := bound.Accept()
		accepted <- err
	}()
	if err := bound.Close(); err != nil {
		t.Error(err)
	}
	if err := <-accepted; err == nil {
		t.Error("it accepts when it is closed")
	}
}
