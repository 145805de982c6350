package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/internal/learn/pack"
)

func newPack() *cobra.Command {
	return &cobra.Command{
		Use:   "pack FILE",
		Short: "Put the sources and all modules into one archive, for a class without a network",
		Long: `pack writes a .tar.gz with the sources in this directory and every module that they need, and those
of bench. Where there is Go and no network, unpack it, and then:

  cd ` + pack.Name + `
  . ./offline.sh        (PowerShell: . .\offline.ps1)
  go run .

What is not in your own module cache is downloaded. It does not contain Go itself.
Exit code: 0 written; 2 trouble.`,
		Example:     "  lockstep pack lockstep-class.tar.gz",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{noSettings: "it packs what is here"},
		RunE:        func(cmd *cobra.Command, args []string) error { return writePack(cmd, args[0]) },
	}
}

func writePack(cmd *cobra.Command, name string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	files, err := pack.Class{Dir: dir, Run: runner(dir)}.Write(cmd.Context(), name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d files, %.0f MB\n", name, files, float64(info.Size())/1e6)
	return nil
}

// runner runs programs in a directory. What they print to standard error is in the error.
func runner(dir string) func(ctx context.Context, env []string, program string, args ...string) (string, error) {
	return func(ctx context.Context, env []string, program string, args ...string) (string, error) {
		command := exec.CommandContext(ctx, program, args...) //nolint:gosec // pack names them
		command.Dir, command.Env = dir, append(os.Environ(), env...)
		var errs strings.Builder
		command.Stderr = &errs
		output, err := command.Output()
		switch {
		case errors.Is(err, exec.ErrNotFound):
			err = fmt.Errorf("there is no %s command in the PATH, and it is needed: install Go, https://go.dev/dl (%w)", program, err)
		case err != nil:
			err = fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
		}
		return string(output), err
	}
}
