// Package cli implements the command line, with one file for each command: flags, their validation, and exit codes. What a command does,
// and how its result is formatted, is in the package of its subject, such as load for burst. Package server assembles a server.
//
// Begin with: Program.Run and newRoot.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lockstep/internal/config"
	"lockstep/internal/evolution"
	"lockstep/internal/language"
)

// Exit codes that all commands share. exitTrouble means that a command has no verdict, or failed. Verdicts have exit codes of their own.
const (
	exitOK      = 0
	exitTrouble = 2
)

// exitCode is an error that carries only an exit code: everything there is to say has been printed already.
type exitCode int

// Error implements error.
func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitWith returns err. If err is nil, it returns an error that makes the command exit with code; nil for exitOK.
func exitWith(err error, code int) error {
	if err == nil && code != exitOK {
		err = exitCode(code)
	}
	return err
}

// productName is the name of the program, whatever its file is called.
const productName = "lockstep"

// Program is one invocation of lockstep: the name by which it was started, and its standard input.
type Program struct {
	Name string    // command as typed, see Typed; hints that show a command begin with it
	In   io.Reader // standard input; nil: the process's own
}

// Run runs a command line of a program that was started as productName, and returns its exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return Program{Name: productName}.Run(ctx, args, stdout, stderr)
}

// Run runs the command line and returns its exit code. A termination signal cancels the command: see untilSignal.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := p.untilSignal(ctx, stderr)
	defer stop()
	return p.run(ctx, args, stdout, stderr)
}

// run does the same as Run, without handling signals.
func (p Program) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	root, out := newRoot(p.Name), &stdoutWriter{to: stdout, done: ctx.Done(), cancel: cancel}
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	err = out.orError(err)
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	default:
		var messages []string
		for line := range strings.Lines(language.TextOf(err, languageOf(cmd))) {
			messages = append(messages, "lockstep: "+strings.TrimSpace(line))
		}
		printLines(stderr, messages...)
		return exitTrouble
	}
}

// newRoot builds the command tree. typed is the program name shown in help and hints.
func newRoot(typed string) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   productName,
		Short: "Sell an inventory over HTTP under a Redis lock of your choice",
		Long: `lockstep sells an inventory over HTTP under a Redis lock of your choice, and shows which locks hold.
Without a command it starts the server.

Settings come from config.yaml, the environment (LOCKSTEP_LOCK_VERSION=v4) and flags
(--lock.version v4); each overrides those before it.`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: typed},
		Args:          rejectArguments,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !showVersion {
				return runServe(cmd, args)
			}
			build, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(cmd.OutOrStdout(), productName, version(build))
			return err
		},
	}
	// Cobra's own version flag uses a template, which makes the linker keep unused methods and the binary larger.
	root.Flags().BoolVarP(&showVersion, "version", "v", false, "print the version of "+typed)
	config.AddFlags(root.PersistentFlags(), evolution.Names())
	root.AddCommand(
		newServe(), newCluster(), newBurst(), newExplore(), newLab(), newDiff(), newMatrix(), newSoak(), newJob(), newHealth(),
		newCourse(), newCheck(), newNew(), newSite(), newSettings(),
	)
	root.SetHelpFunc(showHelp)
	root.SetFlagErrorFunc(explainFlagError)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	completeWith(root, "lock.version", evolution.Names()...)
	completeWith(root, "log.level", "debug", "info", "warn", "error")
	for _, file := range []string{"config", "redis.tls_ca", "redis.tls_cert", "redis.tls_key"} {
		complete(root, file, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		})
	}
	refuseSettings(root)
	redactArgErrors(root)
	return root
}

// messageWriter returns the writer for messages: standard error if a JSON document occupies standard output.
func messageWriter(cmd *cobra.Command, jsonOnStdout bool) io.Writer {
	if jsonOnStdout {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	file := fileOf(w)
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// terminalWidth returns the width of a terminal in columns; 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
	file := fileOf(w)
	if file == nil {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// loadConfig loads and validates all settings.
func loadConfig(cmd *cobra.Command) (config.Config, error) {
	return config.Load(cmd.Flags(), evolution.Names())
}

// loadOnly loads only the named settings, for commands that are clients of a server: see config.LoadOnly.
func loadOnly(cmd *cobra.Command, names ...string) (config.Config, error) {
	return config.LoadOnly(cmd.Flags(), evolution.Names(), names...)
}
