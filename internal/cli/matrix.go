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

// matrixFlags holds the parsed flags of matrix.
type matrixFlags struct {
	quick    bool // true: run only the fast cells
	asJSON   bool
	html     string // file for the page; empty: no page
	lang     language.Language
	parallel int // number of labs that run at the same time
}

// newMatrix returns the matrix command.
func newMatrix() *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Run every strategy against every flaw, and show which hold",
		Long: `matrix fills a table of flaws and strategies. Each cell is the result of a lab on the running
service, or of an exploration where no lab shows the flaw. The whole table takes minutes; --quick
runs a part of it in about a minute, and leaves the other cells empty.

Exit code: 0 every cell that was run is as expected; 1 one is not; 2 one has no verdict, or an
error.`,
		Example:     "  lockstep matrix --quick\n  lockstep matrix --html matrix.html\n  lockstep matrix --json --lang zh",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{noSettings: "each lab has its own"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return runMatrix(cmd, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.quick, "quick", false, "run only the fast cells")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	flags.StringVar(&f.html, "html", "", "also write the table to this file: a page that needs no server")
	flags.IntVar(&f.parallel, "beside", lab.DefaultParallel, "number of labs that run at the same time")
	addLanguageFlag(cmd, &f.lang)
	return cmd
}

// runMatrix runs the matrix command.
func runMatrix(cmd *cobra.Command, f matrixFlags) error {
	if f.parallel < 1 {
		return language.Translate(fmt.Errorf("--beside %d is not allowed: want at least 1", f.parallel), "--beside 不能是 %d：至少是 1", f.parallel)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	page, err := web.OpenFile(f.html) // An unwritable file should fail before minutes of work, not after.
	if err != nil {
		return err
	}
	messages := messageWriter(cmd, f.asJSON)
	progress := newMatrixProgress(messages)
	run := lab.MatrixRun{
		Environment: lab.MachineEnvironment(program), In: f.lang, Quick: f.quick, Parallel: f.parallel,
		Begin: progress.begin, OnCell: progress.update,
	}
	m, err := run.Compute(cmd.Context())
	progress.end()
	if err == nil {
		fmt.Fprintf(messages, "\n%s\n%s\n", m.Legend(), m.Summary())
		if f.asJSON {
			err = web.WriteJSON(cmd.OutOrStdout(), m)
		}
		err = errors.Join(err, page.Write([]byte(m.HTML(cmd.Root().CommandPath()))))
	}
	return exitWith(errors.Join(err, page.Close()), m.ExitCode()) // An output error decides the exit code, whatever the verdict.
}
