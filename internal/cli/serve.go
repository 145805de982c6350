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

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Sell over HTTP (what lockstep does without a command)",
		Args:  cobra.NoArgs,
		RunE:  runServe,
	}
	flags := cmd.Flags()
	flags.Bool(server.UntilStdinFlag, false, "end, as on SIGTERM, when standard input ends")
	flags.Bool(server.BehindFrontFlag, false, "take the ids of orders from the front that lockstep cluster puts before its replicas")
	hide(cmd, server.BehindFrontFlag)
	return cmd
}

// hide leaves a flag out of the help. It panics if there is no such flag.
func hide(cmd *cobra.Command, flag string) {
	if err := cmd.Flags().MarkHidden(flag); err != nil {
		panic(err)
	}
}

func runServe(cmd *cobra.Command, _ []string) error {
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	if until, err := cmd.Flags().GetBool(server.UntilStdinFlag); err == nil && until { // lockstep without a command has no such flag
		endWithStdin(cmd.InOrStdin(), end)
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
	outlive(cmd)
	logged := newLogWriter(cmd.ErrOrStderr())
	defer logged.close()
	return server.Serve(ctx, cfg, server.Options{
		Log: newLog(logged, cfg.Log.Level), LostLines: logged.lostLines, Program: program, BehindFront: behindFront,
		Reload: func() (config.Config, error) { return loadConfig(cmd) },
		Ready:  ready(cmd, logged),
	})
}

// ready returns a function that prints the first line, and then what has been logged.
func ready(cmd *cobra.Command, logged *logWriter) func(firstLine string) {
	return func(firstLine string) {
		tell(cmd.OutOrStdout(), firstLine)
		logged.release()
	}
}

// endWithStdin calls end when standard input ends: the process that started this one decides when.
func endWithStdin(stdin io.Reader, end func()) {
	signal.Ignore(os.Interrupt) // a terminal sends it to every process; the one that started us decides when to end
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		end()
	}()
}
