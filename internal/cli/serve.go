package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"

	"github.com/spf13/cobra"

	"lockstep/internal/config"
)

func newServe() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Sell over HTTP (what lockstep does without a command)",
		Args:  cobra.NoArgs,
		RunE:  runServe,
	}
}

func runServe(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	log := newLog(cmd.ErrOrStderr(), cfg.Log.Level)
	server, err := openServer(ctx, cfg, log)
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), server.firstLine(ctx))
	if !server.api.Open && cfg.Admin.Token == "" {
		log.Warn("PUT and DELETE are refused: " + cfg.Server.Addr + " is not loopback and admin.token is not set")
	}
	if cfg.File != "" {
		config.Watch(cfg.File, func() { cfg = server.reload(ctx, cmd, cfg) })
	}
	select {
	case <-ctx.Done():
		log.Info("ending: waiting for the sales in flight")
	case err = <-server.failed:
	}
	if closeErr := server.close(); err == nil {
		err = closeErr
	}
	return err
}

// reload takes what may change from a changed file, and gives the configuration that is then in force.
func (s *server) reload(ctx context.Context, cmd *cobra.Command, old config.Config) config.Config {
	cfg, err := loadConfig(cmd)
	switch {
	case err != nil:
		s.api.Log.Error("the changed configuration is not taken", "error", err)
		return old
	case reflect.DeepEqual(cfg, old):
		return old
	}
	fixed := cfg
	fixed.Lock, fixed.Sale, fixed.Inventory = old.Lock, old.Sale, old.Inventory
	if !reflect.DeepEqual(fixed, old) {
		s.api.Log.Warn("a change of server, admin, redis or log takes effect at the next start")
	}
	if err := s.api.Shop.Apply(ctx, s.settings(cfg)); err != nil {
		s.api.Log.Error("the changed configuration is not taken", "error", err)
		return old
	}
	return cfg
}

func newLog(to io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo // config allows no other names
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: l}))
}
