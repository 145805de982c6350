package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
	"lockstep/internal/learn/ownlock"
	"lockstep/internal/learn/workshop"
)

func newNew() *cobra.Command {
	var in language.Language
	cmd := &cobra.Command{
		Use:   "new FOLDER",
		Short: "Begin a lock of your own: a module with a test for each step",
		Long: `new writes a Go module of your own into a folder: a lock in Redis that everybody gets, over plain
go-redis, and six tests that it fails, one after the other. Each shows the shortest way in which the
lock breaks, explored by the packages locktest and redistest; no Redis has to run. The README beside
it has the steps. The module uses this clone of lockstep.`,
		Example:     "  lockstep new ../mylock\n  cd ../mylock && go test -run Step1",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{noSettings: "it writes code"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := workshop.FindRoot(".")
			if err != nil {
				return err
			}
			if err := ownlock.Write(args[0], root, in); err != nil {
				return fmt.Errorf("new: %w", err)
			}
			fmt.Fprint(cmd.OutOrStdout(), in.Say("%s is a module with a lock that everybody gets. Step 1, in that folder:\n\n  go test -run Step1\n",
				"%s 是一个模块，里面的锁谁都能拿到。第一步，在该目录下运行：\n\n  go test -run Step1\n", args[0]))
			return nil
		},
	}
	addLanguageFlag(cmd, &in)
	return cmd
}
