package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"sync"
	"syscall"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"lockstep/internal/shop/api"
	"lockstep/internal/shop/config"
)

// untilStdinFlag makes a server end when its standard input does, as the replicas of lockstep cluster do.
const untilStdinFlag = "until-stdin-ends"

// behindFrontFlag makes a server take the ids of its orders from the front of the cluster it is in.
const behindFrontFlag = "behind-front"

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Sell over HTTP (what lockstep does without a command)",
		Args:  cobra.NoArgs,
		RunE:  runServe,
	}
	flags := cmd.Flags()
	flags.Bool(untilStdinFlag, false, "end, as on SIGTERM, when standard input ends")
	flags.Bool(behindFrontFlag, false, "take the ids of orders from the front that lockstep cluster puts before its replicas")
	if err := flags.MarkHidden(behindFrontFlag); err != nil {
		panic(err) // it was made above
	}
	return cmd
}

func runServe(cmd *cobra.Command, _ []string) error {
	ctx, end := context.WithCancel(cmd.Context())
	var watching sync.WaitGroup
	defer watching.Wait()
	defer end()
	if until, err := cmd.Flags().GetBool(untilStdinFlag); err == nil && until {
		endWithStdin(cmd.InOrStdin(), end)
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	logged := &heldWriter{to: cmd.ErrOrStderr()}
	defer logged.release()
	orderIDs := api.OwnOrderIDs(uuid.NewString)
	if behind := cmd.Flags().Lookup(behindFrontFlag); behind != nil && behind.Changed { // lockstep without a command has no such flag
		orderIDs = api.FrontOrderIDs(uuid.NewString)
	}
	server, err := openServer(ctx, cfg, newLog(logged, cfg.Log.Level), orderIDs)
	if err != nil {
		return err
	}
	log := server.api.Log // it names the replica
	fmt.Fprintln(cmd.OutOrStdout(), server.firstLine(ctx))
	logged.release()
	if cfg.File != "" {
		watching.Go(func() {
			inForce := cfg
			if err := config.Watch(ctx, cfg.File, func() { inForce = server.reload(ctx, cmd, inForce) }); err != nil {
				log.Warn("changes of the configuration will not take effect", "error", err)
			}
		})
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

// endWithStdin calls end when standard input ends: the process that started this one decides when.
func endWithStdin(stdin io.Reader, end func()) {
	signal.Ignore(os.Interrupt)    // a terminal sends it to every process; the one that started us decides when to end
	signal.Ignore(syscall.SIGPIPE) // nor do we end because our log is no longer read
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		end()
	}()
}

// reload puts a changed file into force as far as that is possible while the server runs, and gives the configuration then in force.
func (s *server) reload(ctx context.Context, cmd *cobra.Command, old config.Config) config.Config {
	cfg, err := loadConfig(cmd)
	switch {
	case err != nil:
		s.api.Log.Error("the changed configuration is not taken", "error", err)
		return old
	case reflect.DeepEqual(cfg, old):
		s.api.Log.Info("the changed file changes nothing: what it says was in force, or the environment or a flag says otherwise")
		return old
	}
	fixed := cfg
	fixed.Lock, fixed.Sale, fixed.Inventory.Initial = old.Lock, old.Sale, old.Inventory.Initial
	if !reflect.DeepEqual(fixed, old) {
		s.api.Log.Warn("a change of server, admin, redis, inventory.max_orders or log takes effect at the next start")
	}
	if cfg.Lock == old.Lock && cfg.Sale == old.Sale && cfg.Inventory.Initial == old.Inventory.Initial {
		return cfg
	}
	if err := fits(cfg.Lock.Version, s.redis); err != nil {
		s.api.Log.Error("the changed configuration is not taken", "error", err)
		return old
	}
	if err := s.api.Shop.Apply(ctx, s.settings(cfg)); err != nil {
		s.api.Log.Error("the changed configuration is not taken", "error", err)
		return old
	}
	return cfg
}

// heldWriter holds back what is written until its release, so that the log does not come before the first line.
type heldWriter struct {
	to io.Writer

	mu       sync.Mutex
	held     bytes.Buffer
	released bool
}

func (w *heldWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.released {
		return w.to.Write(text)
	}
	return w.held.Write(text)
}

func (w *heldWriter) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.released = true
	_, _ = w.held.WriteTo(w.to) // a log that cannot be written is no reason not to sell
}

func newLog(to io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo // config allows no other names
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: l}))
}
