package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
)

// secretFlags are those whose values may hold a secret.
var secretFlags = []string{"admin.token", "redis.addrs", "redis.username", "redis.password"}

// discreet keeps arguments that may be part of a mistyped secret out of cobra's errors.
func discreet(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		check := cmd.Args
		if check == nil {
			continue
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && slices.ContainsFunc(secretFlags, cmd.Flags().Changed) {
				return errors.New("there is an argument too many; it is not shown, for it may be a piece of a secret; " +
					"put a value with spaces into quotes")
			}
			return err
		}
	}
}
