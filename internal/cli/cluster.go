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
			program, err := os.Executable()
			if err != nil {
				return err
			}
			outlive(cmd)
			logged := newLogWriter(cmd.ErrOrStderr())
			defer logged.close()
			return server.ServeCluster(cmd.Context(), cfg, server.Replicas{
				Program: program,
				N:       replicas, Given: given(cmd), Stderr: logged, Log: newLog(logged, cfg.Log.Level), Ready: ready(cmd, logged),
			})
		},
	}
	cmd.Flags().IntVar(&replicas, "replicas", 3, "how many processes")
	cmd.Flags().StringVar(&version, "lock", "", "the lock they begin with: the same as --lock.version")
	completeWith(cmd, "lock", evolution.Names()...)
	return cmd
}

// settingsGiven returns the names of the settings that a command was given as flags.
func settingsGiven(cmd *cobra.Command) (names []string) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if strings.Contains(flag.Name, ".") {
			names = append(names, flag.Name)
		}
	})
	return names
}

// given returns these as flags, for the command's replicas, with --config. What concerns Redis and secrets they are told otherwise.
func given(cmd *cobra.Command) (args []string) {
	for _, name := range append(settingsGiven(cmd), "config") {
		flag := cmd.Flags().Lookup(name)
		if flag.Changed && !strings.HasPrefix(name, "redis.") && !strings.HasPrefix(name, "admin.") {
			args = append(args, "--"+name+"="+flag.Value.String())
		}
	}
	return args
}
