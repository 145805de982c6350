package cli

import (
	"context"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"lockstep/internal/config"
	"lockstep/internal/server"
)

// newServe returns the serve command.
func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Sell over HTTP (the default command)",
		Args:  cobra.NoArgs,
		RunE:  runServe,
	}
	flags := cmd.Flags()
	flags.Bool(server.UntilStdinFlag, false, "shut down, as on SIGTERM, when standard input ends")
	flags.Bool(server.BehindFrontFlag, false, "take the order ids from the reverse proxy of lockstep cluster")
	hideFlag(cmd, server.BehindFrontFlag)
	return cmd
}

// hideFlag leaves a flag out of the help. It panics if there is no such flag.
func hideFlag(cmd *cobra.Command, flag string) {
	if err := cmd.Flags().MarkHidden(flag); err != nil {
		panic(err)
	}
}

// runServe runs the serve command, or the program without a command.
func runServe(cmd *cobra.Command, _ []string) error {
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	// The root command serves as well, and does not have this flag: GetBool fails there.
	if untilEOF, err := cmd.Flags().GetBool(server.UntilStdinFlag); err == nil && untilEOF {
		cancelAtEOF(cmd.InOrStdin(), end)
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	behindFront, _ := cmd.Flags().GetBool(server.BehindFrontFlag)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ignoreClosedStdout(cmd)
	logs := newLogWriter(cmd.ErrOrStderr())
	defer logs.close()
	return server.Serve(ctx, cfg, server.Options{
		Log: newLog(logs, cfg.Log.Level), LostLines: logs.lostLines, Program: program, BehindFront: behindFront,
		Reload: func() (config.Config, error) { return loadConfig(cmd) },
		Ready:  printFirst(cmd, logs),
	})
}

// printFirst returns a function that prints the first line of a server, and then releases its log.
func printFirst(cmd *cobra.Command, logs *logWriter) func(firstLine string) {
	return func(firstLine string) {
		printLines(cmd.OutOrStdout(), firstLine)
		logs.release()
	}
}

// cancelAtEOF calls end at the end of standard input, which the process that started this one keeps open for as long as it needs it.
func cancelAtEOF(stdin io.Reader, end func()) {
	signal.Ignore(os.Interrupt) // A terminal sends ctrl-C to all processes in its group; only the parent decides when this one ends.
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		end()
	}()
}
