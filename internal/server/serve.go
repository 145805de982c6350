package server

import (
	"context"
	"log/slog"
	"reflect"
	"sync"

	"lockstep/internal/config"
)

// Options configures a server beyond its configuration file.
type Options struct {
	Log         *slog.Logger
	LostLines   func() int64                  // returns the number of lost log lines; nil: not counted
	Program     string                        // path of this program, which labs start as replicas; empty: no labs
	BehindFront bool                          // true: a cluster's reverse proxy assigns the order ids
	Reload      func() (config.Config, error) // reads the configuration again
	Ready       func(firstLine string)        // called once the server answers
}

// Serve runs a server until ctx ends and the sales in flight have ended. It applies changes of the configuration file meanwhile.
func Serve(ctx context.Context, cfg config.Config, o Options) error {
	s, err := Open(ctx, cfg, o)
	if err != nil {
		return err
	}
	o.Ready(s.firstLine(ctx))
	log := s.API.Log // This log names the replica.
	watching, end := context.WithCancel(ctx)
	var watched sync.WaitGroup
	if cfg.File != "" {
		watched.Go(func() {
			inForce := cfg
			config.Watch(watching, cfg.File, func() { inForce = s.reload(watching, o.Reload, inForce) }, func(err error) {
				log.Warn("the configuration cannot be read: the previous one stays in force", "error", err)
			})
		})
	}
	select {
	case <-ctx.Done():
		log.Info("ending: waiting for the sales in flight")
	case err = <-s.serveErr:
	}
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	end()
	watched.Wait()
	return err
}

// reload applies a changed file as far as a running server can, and returns the configuration in force.
func (s *Server) reload(ctx context.Context, load func() (config.Config, error), old config.Config) config.Config {
	cfg, err := load()
	if err == nil && reflect.DeepEqual(cfg, old) {
		s.API.Log.Info("the changed file has no effect: its settings are in force already, or the environment or a flag overrides them")
		return old
	}
	if err == nil {
		err = s.apply(ctx, cfg, old)
	}
	if err != nil {
		s.API.Log.Error("ignoring changed configuration", "error", err)
		return old
	}
	return cfg
}

// apply puts the settings of the run into force, and warns if anything else has changed.
func (s *Server) apply(ctx context.Context, cfg, old config.Config) error {
	fixed := cfg
	fixed.Settings = old.Settings
	if !reflect.DeepEqual(fixed, old) {
		s.API.Log.Warn("a change of server, admin, redis, inventory.max_orders or log takes effect at the next start")
	}
	if cfg.Settings == old.Settings {
		return nil
	}
	if err := checkLock(ctx, cfg.Settings.Lock, s.Redis); err != nil {
		return err
	}
	return s.API.Shop.Apply(ctx, cfg.Settings)
}
