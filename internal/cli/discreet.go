package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// secretFlags are those whose values may hold a secret.
var secretFlags = []string{"admin.token", "redis.addrs", "redis.username", "redis.password"}

// discreet keeps what may be a piece of a secret, mistyped on the command line, out of what cobra says about it.
func discreet(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		check := cmd.Args
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && slices.ContainsFunc(secretFlags, cmd.Flags().Changed) {
				return errors.New("there is an argument too many; it is not shown, for it may be a piece of a secret; " +
					"put a value with spaces into quotes")
			}
			return err
		}
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
			name, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=")
			return fmt.Errorf("there is no flag -%s; one of more than a letter begins with two dashes", name)
		}
		return err
	})
}
