package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/web"
)

// matrixFlags are those of matrix, as given.
type matrixFlags struct {
	quick, asJSON bool
	html          string
	in            language.Language
	beside        int
}

func newMatrix() *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Run every anomaly with every strategy, and show which hold",
		Long: `matrix fills a table: every anomaly and every strategy. A cell is what a lab has shown on the
running service, or an exploration where no lab shows the anomaly. All of it takes minutes; --quick
runs a part in about a minute, and leaves the other cells empty.

Exit code: 0 every cell that was run is as expected; 1 one is not; 2 one cannot be said, or trouble.`,
		Example:     "  lockstep matrix --quick\n  lockstep matrix --html matrix.html\n  lockstep matrix --json --lang zh",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{noSettings: "each lab has its own"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return runMatrix(cmd, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.quick, "quick", false, "run only the cells that take little time")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	flags.StringVar(&f.html, "html", "", "write a page for a browser into this file")
	flags.IntVar(&f.beside, "beside", lab.DefaultParallel, "how many labs run side by side")
	addLanguageFlag(cmd, &f.in)
	return cmd
}

func runMatrix(cmd *cobra.Command, f matrixFlags) error {
	if f.beside < 1 {
		return fmt.Errorf("--beside %d is not allowed: want at least 1", f.beside)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	page, err := web.OpenFile(f.html) // before minutes of work, not after
	if err != nil {
		return err
	}
	people := people(cmd, f.asJSON)
	shown := newMatrixShown(people)
	run := lab.MatrixRun{Environment: lab.Machine(program), In: f.in, Quick: f.quick, Parallel: f.beside, Begin: shown.begin, OnCell: shown.tell}
	m, err := run.Compute(cmd.Context())
	shown.end()
	if err == nil {
		fmt.Fprintf(people, "\n%s\n%s\n", m.Legend(), m.Summary())
		if f.asJSON {
			err = web.WriteJSON(cmd.OutOrStdout(), m)
		}
		err = errors.Join(err, page.Write([]byte(m.HTML(cmd.Root().CommandPath()))))
	}
	return exitWith(errors.Join(err, page.Close()), m.ExitCode()) // a file that cannot be written is trouble, whatever the verdict
}
