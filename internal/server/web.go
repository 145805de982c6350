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

// Time limits for clients, so that none occupies a connection forever.
const (
	WriteTime         = 5 * time.Second // limit for one write of a response
	idleTime          = 2 * time.Minute // limit for an idle connection
	stalledClientTime = time.Second     // limit for sending a request or reading its response while the server ends
)

// webServer is the HTTP server of a shop or of a cluster's reverse proxy. Every connection has time limits.
type webServer struct {
	http     *http.Server
	entrance *api.Entrance
	capacity load.Capacity
	ending   *endingListener // wrapped by listener
	listener *boundListener
	served   chan struct{} // closed when no more connections are accepted
	drained  sync.Once
}

// newWebServer returns a server for handler with the given capacity. On shutdown it calls ends, which end the event streams; otherwise it
// would wait for their readers.
func newWebServer(handler http.Handler, replica string, log *slog.Logger, capacity load.Capacity, ends ...func()) *webServer {
	entrance := &api.Entrance{Next: handler, Replica: replica, Log: log, Admit: admit}
	s := &webServer{
		entrance: entrance,
		capacity: capacity,
		http: &http.Server{
			Handler:        entrance,
			ReadTimeout:    api.BodyTime, // Covers reading the request only, because a sale may take longer.
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

// start serves connections of l until shutdown. serveErr receives the error that ended the server: http.ErrServerClosed after a shutdown.
func (s *webServer) start(l net.Listener) (serveErr <-chan error) {
	s.ending = &endingListener{Listener: l}
	s.listener, s.served = newBoundListener(s.ending, s.capacity), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		err := s.http.Serve(s.listener)
		close(s.served)
		ended <- err
	}()
	return ended
}

// shutdown stops accepting connections and returns when every request has been answered. It soon disconnects clients that have not finished
// their request or do not read their response. It returns an error if ctx ends first.
func (s *webServer) shutdown(ctx context.Context) error {
	began, ended := time.Now(), make(chan error, 1)
	s.drain(ctx)
	go func() { ended <- s.http.Shutdown(ctx) }()
	ticker := time.NewTicker(stalledClientTime / 20)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-ticker.C:
			if time.Since(began) >= stalledClientTime && s.entrance.ShutIfQuiet(stalledClientTime) {
				return errors.Join(s.http.Close(), <-ended)
			}
		}
	}
}
