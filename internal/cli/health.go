package cli

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/shop/load"
)

func newHealth() *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Ask the server at server.addr whether it can sell",
		Long:  "health asks the server at server.addr whether it can sell: exit code 0 if so, 2 if not.\nIt is the container's health check.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			target := cfg.Server.URL()
			status, body, err := load.Get(cmd.Context(), &http.Client{Timeout: 2 * time.Second}, target+"/readyz")
			switch {
			case err != nil:
				return err
			case status != http.StatusOK:
				return errors.New(target + " is not ready: " + string(body))
			}
			fmt.Fprintln(cmd.OutOrStdout(), target, "is ready")
			return nil
		},
	}
}
