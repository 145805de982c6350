// Museum runs the unmodified code of published lock libraries in every order of their Redis commands that a budget allows, and shows the
// shortest schedules that lead to an anomaly. Without arguments it makes the table of all of them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"lockstep/locktest"
	"lockstep/museum/internal/exhibit"
	"lockstep/museum/internal/library"
	"lockstep/museum/internal/yielding"
)

// main runs the command as a test, because testing/synctest needs one.
func main() {
	arguments := os.Args[1:]
	os.Args = os.Args[:1] // Package testing would parse the other arguments.
	library.Quiet()
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "museum", F: func(t *testing.T) {
		os.Exit(run(t, arguments, os.Stdout, os.Stderr))
	}}}, nil, nil)
}

// run gives the exit status: 1 if an anomaly was found or replayed, 2 if something failed.
func run(t *testing.T, arguments []string, stdout, stderr io.Writer) int {
	o, err := parse(arguments, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	found := false
	if err == nil {
		found, err = o.do(t, stdout, stderr)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(stderr, err)
		return 2
	case found:
		return 1
	}
	return 0
}

func (o options) do(t *testing.T, stdout, stderr io.Writer) (found bool, err error) {
	if o.yield {
		modfile, err := yielding.Modfile(context.Background(), ".")
		if err != nil {
			return false, err
		}
		return false, rebuilt(context.Background(), modfile, o.arguments, stdout, stderr)
	}
	if o.library == "" {
		return false, o.table(t, stdout, stderr)
	}
	l, err := library.Find(o.library)
	if err != nil {
		return false, err
	}
	if o.replay != "" {
		return o.again(t, l, "", stdout)
	}
	shown, err := exhibit.Explore(t, l, []exhibit.Scenario{o.scenario}, o.runs, o.yields)
	if err != nil {
		return false, err
	}
	if o.json {
		return false, json.NewEncoder(stdout).Encode(shown)
	}
	return len(shown.Rows) > 0, o.draw(t, l, shown, stdout)
}

// draw shows what was found in one scenario.
func (o options) draw(t *testing.T, l library.Library, shown exhibit.Findings, out io.Writer) error {
	for _, row := range shown.Rows {
		fmt.Fprintf(out, "%s shows %s in %d steps: %s.\n\n", l.Name, row.Anomaly, row.Steps(), row.Anomaly.Says())
		o.replay = row.Schedule
		if _, err := o.again(t, l, row.Anomaly, out); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nAgain: %s\n\n", row.Replay())
	}
	e := shown.Explored[0]
	extent := "Every schedule was run"
	if !e.Complete {
		extent = fmt.Sprintf("Every schedule of up to %d steps was run", e.Depth)
	}
	fmt.Fprintf(out, "%s: %d runs, %.0f a second.\n", extent, e.Runs, float64(e.Runs)/e.Took.Seconds())
	return nil
}

// again draws one schedule, which is to show an anomaly.
func (o options) again(t *testing.T, l library.Library, want locktest.Anomaly, out io.Writer) (found bool, err error) {
	shown, err := locktest.Show(t, o.scenario.Config(l, o.runs, exhibit.Anomalies()...), o.replay, l.Open, want)
	if err != nil {
		return false, err
	}
	fmt.Fprint(out, shown.Drawing)
	return len(shown.Found) > 0, nil
}
