package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/config"
)

// refuseSettings lets the commands that take no settings refuse them.
func refuseSettings(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		why, none := cmd.Annotations[noSettings]
		if !none {
			continue
		}
		cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
			var given []string
			cmd.Flags().Visit(func(flag *pflag.Flag) {
				if cmd.LocalFlags().Lookup(flag.Name) == nil {
					given = append(given, "--"+flag.Name)
				}
			})
			if len(given) > 0 {
				return fmt.Errorf("%s: %s takes no settings: %s", strings.Join(given, ", "), cmd.Name(), why)
			}
			return nil
		}
	}
}

// discreet keeps arguments that may be part of a mistyped secret out of cobra's errors.
func discreet(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		check := cmd.Args
		if check == nil {
			continue
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && isSecretGiven(cmd.Flags()) {
				return errors.New("there is an argument too many; it is not shown, for it may be a piece of a secret; " +
					"put a value with spaces into quotes")
			}
			return err
		}
	}
}

// isSecretGiven reports whether a flag was given whose value may hold a secret, also one that was meant for its neighbour. Where the
// embedded Redis listens is none.
func isSecretGiven(flags *pflag.FlagSet) (given bool) {
	flags.Visit(func(flag *pflag.Flag) {
		given = given || config.IsSecret(flag.Name) && flag.Name != "redis.embedded_addr"
	})
	return given
}
