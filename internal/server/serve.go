package server

import (
	"context"
	"log/slog"
	"reflect"
	"sync"

	"lockstep/internal/config"
)

// Options are what a server is told beside its configuration.
type Options struct {
	Log         *slog.Logger
	LostLines   func() int64                  // how many lines of the log have been lost; nil: not counted
	Program     string                        // of this process, which labs start as their replicas; empty: none are run
	BehindFront bool                          // orders have the ids that a cluster's front gives them
	Reload      func() (config.Config, error) // reads the configuration anew
	Ready       func(firstLine string)        // is told once the server answers
}

// Serve serves until ctx ends, and then until the sales in flight have ended. A configuration file that changes meanwhile takes effect.
func Serve(ctx context.Context, cfg config.Config, o Options) error {
	s, err := Open(ctx, cfg, o)
	if err != nil {
		return err
	}
	o.Ready(s.firstLine(ctx))
	log := s.API.Log // it names the replica
	watching, end := context.WithCancel(ctx)
	var watched sync.WaitGroup
	if cfg.File != "" {
		watched.Go(func() {
			inForce := cfg
			config.Watch(watching, cfg.File, func() { inForce = s.reload(watching, o.Reload, inForce) }, func(err error) {
				log.Warn("the configuration cannot be read: what it said before stays in force", "error", err)
			})
		})
	}
	select {
	case <-ctx.Done():
		log.Info("ending: waiting for the sales in flight")
	case err = <-s.failed:
	}
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	end()
	watched.Wait()
	return err
}

// reload applies a changed file as far as that is possible while the server runs, and returns the configuration then in force.
func (s *Server) reload(ctx context.Context, load func() (config.Config, error), old config.Config) config.Config {
	cfg, err := load()
	if err == nil && reflect.DeepEqual(cfg, old) {
		s.API.Log.Info("the changed file changes nothing: what it says was in force, or the environment or a flag says otherwise")
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

// apply puts into force what may change while the server runs, and warns of what else has changed.
func (s *Server) apply(ctx context.Context, cfg, old config.Config) error {
	fixed := cfg
	fixed.Settings = old.Settings
	if !reflect.DeepEqual(fixed, old) {
		s.API.Log.Warn("a change of server, admin, redis, inventory.max_orders or log takes effect at the next start")
	}
	if cfg.Settings == old.Settings {
		return nil
	}
	if err := fits(ctx, cfg.Settings.Lock, s.Redis); err != nil {
		return err
	}
	return s.API.Shop.Apply(ctx, cfg.Settings)
}
