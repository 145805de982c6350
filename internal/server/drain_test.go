package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/load"
	"lockstep/internal/test/suite"
)

// startWeb starts a server that answers "sold".
func startWeb(t *testing.T) (s *webServer, addr string) {
	t.Helper()
	l, err := listenTCP(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = newWebServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "sold") }),
		"", slog.New(slog.DiscardHandler), load.Capacity{})
	s.start(l)
	t.Cleanup(func() { _ = s.http.Close() })
	return s, l.Addr().String()
}

// shutdown ends a server, and reports whether it has ended, and how long it took.
func shutdown(t *testing.T, s *webServer) <-chan time.Duration {
	t.Helper()
	ended := make(chan time.Duration, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), suite.Patience)
		defer cancel()
		began := time.Now()
		if err := s.shutdown(ctx); err != nil {
			t.Error(err)
		}
		ended <- time.Since(began)
	}()
	return ended
}

// Buyers buy as fast as they can, on connections that they keep, or on a new one for each sale: while the server ends each is answered, or
// cannot connect.
func TestEndingServerAnswersEveryBuyer(t *testing.T) {
	t.Parallel()
	const rounds, buyers = 3, 60
	for i := range 2 * rounds {
		s, addr := startWeb(t)
		var sold atomic.Int64
		var all sync.WaitGroup
		for range buyers {
			all.Go(func() {
				transport := &http.Transport{DisableKeepAlives: i%2 == 1}
				defer transport.CloseIdleConnections()
				for {
					response, err := (&http.Client{Transport: transport}).Post("http://"+addr+"/inventory/sale", "", http.NoBody)
					var failed *net.OpError
					if errors.As(err, &failed) && failed.Op == "dial" {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, response.Body) // "sold"
					response.Body.Close()
					sold.Add(1)
				}
			})
		}
		suite.Eventually(t, "all buy", func() bool { return sold.Load() >= 10*buyers })
		<-shutdown(t, s)
		all.Wait()
	}
}

// A request that comes on an open connection after the server was told to end is answered, and its answer is the connection's last.
func TestEndingServerAnswersOnOpenConnections(t *testing.T) {
	s, addr := startWeb(t)
	kept, asking, unused := connect(t, addr), connect(t, addr), connect(t, addr)
	for _, conn := range []connected{kept, asking} {
		if got := conn.ask(t, "POST /inventory/sale"); got.status != 200 || got.closes {
			t.Errorf("%d, the last one: %v; want a 200 and an open connection", got.status, got.closes)
		}
	}
	ended := shutdown(t, s)
	suite.Eventually(t, "an answer is the connection's last", func() bool {
		got := asking.ask(t, "POST /readyz")
		if got.closes && got.status != 503 {
			t.Errorf("/readyz of a server that ends: %d; want 503", got.status)
		}
		return got.closes
	})
	for _, conn := range []connected{kept, unused} {
		if got := conn.ask(t, "POST /inventory/sale"); got.status != 200 || !got.closes {
			t.Errorf("%d, the last one: %v; want a 200, and to be told that the connection ends", got.status, got.closes)
		}
	}
	<-ended
}

// A server with nothing to wait for ends at once; one whose clients keep idle connections, after DrainTime.
func TestIdleServerEndsAtOnce(t *testing.T) {
	t.Parallel()
	s, addr := startWeb(t)
	connect(t, addr)
	suite.Eventually(t, "the connection is accepted", func() bool { return s.listener.connections() > 0 })
	if took := <-shutdown(t, s); took < DrainTime/2 || took > suite.Patience/2 {
		t.Errorf("with an idle connection it took %v; want %v", took, DrainTime)
	}
	s, _ = startWeb(t)
	if took := <-shutdown(t, s); took > DrainTime {
		t.Errorf("without a connection it took %v", took)
	}
}
