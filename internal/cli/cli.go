// Package cli is the command line, one file a command: flags, what is wrong with them, and exit codes. What a command does, and how its
// result is shown, stands in its room. Package server puts a server together.
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
)

// Exit codes: 0, what was asked for holds; 1, it does not; 2, that cannot be said.
const (
	exitOK      = 0
	exitTrouble = 2
)

// exitCode is an error that only carries the exit code; its message has been printed.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitWith returns an error, or what makes a command end with a code.
func exitWith(err error, code int) error {
	if err == nil && code != exitOK {
		err = exitCode(code)
	}
	return err
}

// productName is the program's name, however it was started.
const productName = "lockstep"

// Program is this program, as it was started.
type Program struct {
	Name string    // as typed; hints begin with it
	In   io.Reader // nil: standard input
}

// Run runs the command line of a program that was started by its own name.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return Program{Name: productName}.Run(ctx, args, stdout, stderr)
}

// Run runs the command line and returns its exit code. untilSignal says which signals end the command.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := p.untilSignal(ctx, stderr)
	defer stop()
	return p.run(ctx, args, stdout, stderr)
}

// run is Run, but for the signals.
func (p Program) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, end := context.WithCancel(ctx)
	defer end()
	root, out := newRoot(p.Name), &printed{to: stdout, ending: ctx.Done(), end: end}
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(out)
	root.SetErr(stderr)
	err := out.orError(root.ExecuteContext(ctx))
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	default:
		var says []string
		for line := range strings.Lines(err.Error()) {
			says = append(says, "lockstep: "+strings.TrimSpace(line))
		}
		tell(stderr, says...)
		return exitTrouble
	}
}

func newRoot(typed string) *cobra.Command {
	var askedVersion bool
	root := &cobra.Command{
		Use:   productName,
		Short: "An inventory sold over HTTP, under a Redis lock of your choice",
		Long: `lockstep sells an inventory over HTTP under a Redis lock of your choice, and shows which locks hold.
Without a command it serves.

Settings come from config.yaml, the environment (LOCKSTEP_LOCK_VERSION=v4) and flags
(--lock.version v4), in rising order.`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: typed},
		Args:          noCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !askedVersion {
				return runServe(cmd, args)
			}
			build, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(cmd.OutOrStdout(), productName, version(build))
			return err
		},
	}
	// not cobra's own version flag, which uses a template: page.go in package api says what templates cost
	root.Flags().BoolVarP(&askedVersion, "version", "v", false, "version for "+typed)
	config.AddFlags(root.PersistentFlags(), evolution.Names())
	root.AddCommand(
		newServe(), newCluster(), newBurst(), newExplore(), newLab(), newDiff(), newMatrix(), newSoak(), newJob(), newHealth(),
		newCourse(), newCheck(), newNew(), newSite(), newSettings(),
	)
	root.SetHelpFunc(showHelp)
	root.SetFlagErrorFunc(noFlag)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	completeWith(root, "lock.version", evolution.Names()...)
	completeWith(root, "log.level", "debug", "info", "warn", "error")
	for _, file := range []string{"config", "redis.tls_ca", "redis.tls_cert", "redis.tls_key"} {
		complete(root, file, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		})
	}
	refuseSettings(root)
	discreet(root)
	return root
}

// people returns where sentences go: to standard error if a document goes to standard output.
func people(cmd *cobra.Command, document bool) io.Writer {
	if document {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// isTerminal reports whether a person is watching.
func isTerminal(w io.Writer) bool {
	file := fileOf(w)
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// width returns how many signs fit into a line, 0 if there is no telling.
func width(w io.Writer) int {
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

func loadConfig(cmd *cobra.Command) (config.Config, error) {
	return config.Load(cmd.Flags(), evolution.Names())
}

// loadOnly loads the settings that a client needs: see config.LoadOnly.
func loadOnly(cmd *cobra.Command, names ...string) (config.Config, error) {
	return config.LoadOnly(cmd.Flags(), evolution.Names(), names...)
}
