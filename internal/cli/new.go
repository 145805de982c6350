package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/internal/exercise"
	"lockstep/internal/language"
	"lockstep/internal/ownlock"
)

// newNew returns the new command.
func newNew() *cobra.Command {
	var lang language.Language
	cmd := &cobra.Command{
		Use:   "new FOLDER",
		Short: "Start a lock of your own: a module with a test for each step",
		Long: `new writes a Go module into a folder: a Redis lock over plain go-redis that excludes nobody, and six
tests, which it fails. You make them pass one by one. Each test shows the shortest way in which the
lock breaks, found by the packages locktest and redistest; no Redis server is needed. The README in
the folder explains the steps. The module uses this clone of lockstep.`,
		Example:     "  lockstep new ../mylock\n  cd ../mylock && go test -run Step1",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{noSettings: "it only writes code"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := exercise.FindRoot(".")
			if err != nil {
				return err
			}
			if err := ownlock.Write(cmd.Context(), args[0], root, lang); err != nil {
				return fmt.Errorf("new: %w", err)
			}
			folder := args[0]
			if strings.ContainsRune(folder, ' ') {
				folder = strconv.Quote(folder)
			}
			fmt.Fprint(cmd.OutOrStdout(), lang.Say(
				"%s is a module with a lock that excludes nobody, and a README with the six steps. The first step:\n\n"+
					"  cd %[2]s && go test -run Step1\n",
				"%s 是一个模块，里面的锁谁也挡不住；六个步骤见其中的 README。第一步：\n\n"+
					"  cd %[2]s && go test -run Step1\n", args[0], folder))
			return nil
		},
	}
	addLanguageFlag(cmd, &lang)
	return cmd
}
