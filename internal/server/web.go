package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/load"
)

// How long a client may take, so that none occupies a connection for ever.
const (
	WriteTime = 5 * time.Second // to read one write of an answer; each write has a time of its own
	idleTime  = 2 * time.Minute // between two requests
	lastTime  = time.Second     // to send a request and to read its answer, once the server ends
)

// webServer is the HTTP server of a shop or of a cluster's front. All its connections end.
type webServer struct {
	http     *http.Server
	entrance *api.Entrance
	room     load.Capacity
	ending   *endingListener // below listener
	listener *boundListener
	served   chan struct{} // closed when nobody accepts any more
	drained  sync.Once
}

// newWebServer makes a server of a handler, with room for so many connections. When it shuts down it calls ends, which end the streams, or
// it would wait for those who watch.
func newWebServer(handler http.Handler, replica string, log *slog.Logger, room load.Capacity, ends ...func()) *webServer {
	entrance := &api.Entrance{Next: handler, Replica: replica, Log: log, Admit: admit}
	s := &webServer{
		entrance: entrance,
		room:     room,
		http: &http.Server{
			Handler:        entrance,
			ReadTimeout:    api.BodyTime, // until the entrance has the whole request: a sale may take longer
			IdleTimeout:    idleTime,
			MaxHeaderBytes: 64 << 10,
			ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelWarn),
			ConnContext:    withConn,
		},
	}
	for _, end := range ends {
		s.http.RegisterOnShutdown(end)
	}
	return s
}

// start serves until shutdown; if the server ends by itself, failed says why.
func (s *webServer) start(l net.Listener) (failed <-chan error) {
	s.ending = &endingListener{Listener: l}
	s.listener, s.served = newBoundListener(s.ending, s.room), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		err := s.http.Serve(s.listener)
		close(s.served)
		ended <- err
	}()
	return ended
}

// shutdown takes no more connections, and returns when every request has been answered. When only clients are left that are still sending
// their request or do not read their answer, they are cut off soon. It fails if ctx ends before.
func (s *webServer) shutdown(ctx context.Context) error {
	began, ended := time.Now(), make(chan error, 1)
	s.drain(ctx)
	go func() { ended <- s.http.Shutdown(ctx) }()
	look := time.NewTicker(lastTime / 20)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-look.C:
			if time.Since(began) >= lastTime && s.entrance.Shut(lastTime) {
				return errors.Join(s.http.Close(), <-ended)
			}
		}
	}
}
