package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/evolution"
	"lockstep/internal/server"
)

// newCluster returns the cluster command.
func newCluster() *cobra.Command {
	var replicas int
	var version string
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Run several replicas on one Redis, behind one address",
		Long: `cluster starts several servers (--replicas) as separate processes on one Redis, and distributes the
requests to server.addr over them. A replica that dies is restarted; one that hangs gets no requests
until it answers again. Without redis.addrs, this process embeds the Redis.`,
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
			program, err := os.Executable()
			if err != nil {
				return err
			}
			ignoreClosedStdout(cmd)
			logs := newLogWriter(cmd.ErrOrStderr())
			defer logs.close()
			return server.ServeCluster(cmd.Context(), cfg, server.ClusterOptions{
				Program: program,
				N:       replicas, ForwardedFlags: forwardedFlags(cmd), Stderr: logs, Log: newLog(logs, cfg.Log.Level), Ready: printFirst(cmd, logs),
			})
		},
	}
	cmd.Flags().IntVar(&replicas, "replicas", 3, "number of replica processes")
	cmd.Flags().StringVar(&version, "lock", "", "lock to start with; the same as --lock.version")
	completeWith(cmd, "lock", evolution.Names()...)
	return cmd
}

// changedSettings returns the names of the settings that were given as flags.
func changedSettings(cmd *cobra.Command) (names []string) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if strings.Contains(flag.Name, ".") {
			names = append(names, flag.Name)
		}
	})
	return names
}

// forwardedFlags returns --config and the settings flags to pass on to replicas. Package cluster passes on the Redis settings and the
// secrets itself: see cluster.Command.
func forwardedFlags(cmd *cobra.Command) (args []string) {
	for _, name := range append(changedSettings(cmd), "config") {
		flag := cmd.Flags().Lookup(name)
		if flag.Changed && !strings.HasPrefix(name, "redis.") && !strings.HasPrefix(name, "admin.") {
			args = append(args, "--"+name+"="+flag.Value.String())
		}
	}
	return args
}
