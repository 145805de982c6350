package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/load"
)

func newHealth() *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Ask the server at server.addr whether it can sell",
		Long: `health asks the server at server.addr whether it can sell: exit code 0 if so, 2 if not.
It is the container's health check. It heeds no other setting.`,
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
