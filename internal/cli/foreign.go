package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// foreignFlags are those given to a command that are settings, which it does not take.
func foreignFlags(cmd *cobra.Command) (foreign []string) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if cmd.LocalFlags().Lookup(flag.Name) == nil {
			foreign = append(foreign, "--"+flag.Name)
		}
	})
	return foreign
}
