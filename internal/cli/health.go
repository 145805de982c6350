package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/load"
)

// newHealth returns the health command.
func newHealth() *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Check whether the server at server.addr can sell",
		Long: `health checks whether the server at server.addr can sell: exit code 0 if it can, 2 if not.
It is the health check of the container image. It reads no other setting.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadOnly(cmd, "server.addr")
			if err != nil {
				return err
			}
			target := cfg.Server.URL()
			if err := load.Ready(cmd.Context(), target, 2*time.Second); err != nil {
				return fmt.Errorf("%s: %w", target, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), target, "is ready")
			return nil
		},
	}
}
