package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/docs"
	"lockstep/internal/dao"
	"lockstep/internal/learn/classroom"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/service"
	"lockstep/internal/shop/cluster"
	"lockstep/internal/shop/config"
)

func newCluster() *cobra.Command {
	var replicas int
	var version string
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Sell in several processes on one Redis, behind one address",
		Long: `cluster starts that many servers as processes of their own, all on one Redis, and spreads the
requests to server.addr over them. A replica that dies is started again; one that hangs gets no
requests until it answers again. Without redis.addrs the Redis is embedded in this process.`,
		Example: "  lockstep cluster --replicas 3 --lock v4\n  curl http://127.0.0.1:8080/replicas",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if replicas < 1 || replicas > 100 {
				return fmt.Errorf("--replicas %d is not allowed: want from 1 to 100", replicas)
			}
			if version != "" {
				if err := cmd.Flags().Set("lock.version", version); err != nil {
					return err
				}
			}
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			return runCluster(cmd, cfg, replicas)
		},
	}
	cmd.Flags().IntVar(&replicas, "replicas", 3, "how many processes")
	cmd.Flags().StringVar(&version, "lock", "", "the lock they begin with: the same as --lock.version")
	completeWith(cmd, "lock", evolution.Names()...)
	return cmd
}

func runCluster(cmd *cobra.Command, cfg config.Config, replicas int) error {
	ctx := cmd.Context()
	logged := &heldWriter{to: cmd.ErrOrStderr()}
	defer logged.release()
	log := newLog(logged, cfg.Log.Level)
	listener, err := net.Listen("tcp", cfg.Server.Addr)
	if err != nil {
		return fmt.Errorf("server.addr: cannot listen on %s: %w; choose another with --server.addr", cfg.Server.Addr, err)
	}
	redis, err := dao.Open(ctx, dao.Config(cfg.Redis))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	guard := newGuard(cfg, listener.Addr())
	processes, err := startReplicas(cmd, behind(guard, cfg), replicas, redis, log, logged)
	if err != nil {
		return errors.Join(err, listener.Close(), redis.Close())
	}
	warnOf(guard, listener.Addr(), log)
	front := &cluster.Front{Cluster: processes, NewID: uuid.NewString, Guard: guard, Log: log, Ending: make(chan struct{})}
	shown := newLive(cfg, guard, listener.Addr(), cluster.Watched{Front: front})
	shown.Hub.Can.Replicas = true
	front.Live, front.Nodes = shown.Handler(), nodeFaults(redis, shown.Hub)
	class := classroom.New(docs.Course())
	front.Room = class.Handler()
	processes.Tell(shown.Hub.Note)
	web := newWebServer(front.Handler(), "", log)
	web.http.RegisterOnShutdown(func() { close(front.Ending) })
	web.http.RegisterOnShutdown(shown.Close)
	web.http.RegisterOnShutdown(class.Close)
	failed := make(chan error, 1)
	go func() { failed <- web.serve(listener) }()
	watching, endWatching := context.WithCancel(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		front.Watch(watching)
	}()
	fmt.Fprintf(cmd.OutOrStdout(), "lockstep: %s · %d replicas · lock %s · %s\n",
		where(listener.Addr().String()), replicas, cfg.Lock.Version, redis.Name)
	logged.release()
	select {
	case <-ctx.Done():
		log.Info("ending: waiting for the sales in flight")
	case err = <-failed:
	}
	answered := make(chan struct{})
	all, cancel := context.WithCancel(context.Background())
	go func() { // takes no more requests, and passes on the answers to those it has
		defer close(answered)
		_ = web.shutdown(all) // some time after every replica has ended there is nothing left to pass on
	}()
	processes.Stop() // the front still watches: it does not wait for replicas that hang
	endWatching()
	<-watched
	select {
	case <-answered:
	case <-time.After(leaveTime):
	}
	cancel()
	<-answered
	shown.Close()
	return errors.Join(err, redis.Close())
}

// startReplicas starts servers of this very program with its configuration, except for their addresses, their names, and the embedded
// Redis, which is this process's.
func startReplicas(
	cmd *cobra.Command, cfg config.Config, n int, redis *dao.Redis, log *slog.Logger, stderr io.Writer,
) (*cluster.Cluster, error) {
	replica, err := replicaCommand(cmd, cfg, redis, []string{
		"serve", "--" + behindFrontFlag, "--server.addr=" + anyPort,
		"--server.hosts=" + strings.Join(cfg.Server.Hosts, ","),
		"--admin.open=" + strconv.FormatBool(cfg.Admin.Open),
	}, nil, stderr)
	if err != nil {
		return nil, err
	}
	sale := service.Settings{
		Lock: strategy.Parts{Options: lock.Options{WaitTimeout: cfg.Lock.WaitTimeout}}, Think: cfg.Sale.ThinkTime, Nested: cfg.Sale.Nested,
	}
	grace := sale.LongestSale() + 4*leaveTime // for what comes after the sales
	return cluster.Start(cmd.Context(), n, replica, grace, log)
}

// replicaCommand gives the commands that run this very program as a replica, by arguments of its own, which come last, and the settings
// of this process.
func replicaCommand(
	cmd *cobra.Command, cfg config.Config, redis *dao.Redis, arguments []string, stdout, stderr io.Writer,
) (func(name string) *exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{arguments[0], "--" + untilStdinFlag}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		group, _, isKey := strings.Cut(flag.Name, ".")
		if flag.Name == "config" || isKey && group != "redis" && group != "admin" {
			args = append(args, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	// the Redis is this one, even if a replica is started again after the file has changed
	addrs := cfg.Redis.Addrs
	if len(addrs) == 0 {
		addrs = []string{redis.Addr}
		args = append(args, "--redis.embedded_addr="+redis.Addr) // so that they know what they talk to
	}
	args = append(args,
		"--redis.addrs="+strings.Join(addrs, ","),
		"--redis.redlock_addrs="+strings.Join(redis.Nodes.Addrs(), ","),
		"--redis.master_name="+cfg.Redis.MasterName,
		"--redis.cluster="+strconv.FormatBool(cfg.Redis.Cluster),
		"--redis.tls="+strconv.FormatBool(cfg.Redis.TLS),
		"--redis.tls_ca="+cfg.Redis.TLSCA)
	args = append(args, arguments[1:]...)
	var secrets []string // other users of the machine can read arguments, not the environment
	for _, secret := range []struct{ variable, flag, value string }{
		{config.TokenVariable, "--admin.token=", cfg.Admin.Token},
		{config.UsernameVariable, "--redis.username=", cfg.Redis.Username},
		{config.PasswordVariable, "--redis.password=", cfg.Redis.Password},
	} {
		secrets = append(secrets, secret.variable+"="+secret.value)
		if secret.value == "" {
			args = append(args, secret.flag) // nothing, whatever a changed file says
		}
	}
	return func(name string) *exec.Cmd {
		own := slices.Concat(args, []string{"--server.replica=" + name}) // not append: two may be started again at once
		command := exec.Command(program, own...)                         // it ends by its standard input
		command.Stdout, command.Stderr = stdout, stderr
		command.Env = append(os.Environ(), secrets...)
		return command
	}, nil
}
