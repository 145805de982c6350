package matrix

import (
	"context"
	"slices"

	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

// row is an anomaly, and how its cells are run.
type row interface {
	name() string
	claim() string
	expects(lock string) lab.Expectation
	how(lock string) string // the command
	quick(lock string) bool // the cell is among the quick ones
	waits() bool            // more than it works, so that several can be run side by side
	observe(ctx context.Context, lock string) (observation, error)
}

// observation is what a run has shown.
type observation struct {
	observed lab.Observed
	says     string
}

// rows are all of them: the labs, in the order of the story, and then what no lab shows. The program is this one, for replicas of a lab.
// What they observe they say in a language.
func rows(program string, in language.Language) (all []row) {
	var names []string
	for _, l := range lab.All() {
		names = append(names, l.Name)
		all = append(all, labRow{l, program, in})
	}
	known := sweeps{}
	for _, e := range explorations() {
		if !slices.Contains(names, e.anomalyName) { // a lab of that name shows it on the running service
			all = append(all, explorerRow{e, known, in})
		}
	}
	return all
}

// labRow is an anomaly that a lab shows.
type labRow struct {
	lab     lab.Lab
	program string
	in      language.Language
}

func (r labRow) name() string                        { return r.lab.Name }
func (r labRow) claim() string                       { return r.lab.Claim }
func (r labRow) expects(lock string) lab.Expectation { return r.lab.Expects(lock) }
func (r labRow) how(lock string) string              { return "lab " + r.lab.Name + " --lock " + lock }
func (r labRow) quick(lock string) bool              { return slices.Contains(r.lab.Locks(), lock) }
func (r labRow) waits() bool                         { return true }

func (r labRow) observe(ctx context.Context, lock string) (observation, error) {
	result, err := r.lab.In(r.in).Run(ctx, r.program, lock, lab.Embedded)
	if err != nil {
		return observation{}, err
	}
	says := result.Sentence
	if result.Observed == lab.Unknown {
		says = result.Reason
	}
	return observation{result.Observed, says}, nil
}
