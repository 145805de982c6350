package report

import (
	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/trace"
	"lockstep/internal/verdict"
)

// Document is the JSON document about an exploration, which explore --json prints.
type Document struct {
	Lock           string          `json:"lock"`            // name of the lock
	Actors         int             `json:"actors"`          // number of actors
	Sales          int             `json:"sales"`           // sales of each actor
	Replicas       int             `json:"replicas"`        // number of processes
	Try            int             `json:"try"`             // actors that try once for the lock, and do not wait
	Nested         int             `json:"nested"`          // nested calls of each sale
	WorkMillis     trace.Millis    `json:"work_ms"`         // time between reading the stock and writing it
	SkewMillis     trace.Millis    `json:"skew_ms"`         // clock error of the processes
	WithinMillis   trace.Millis    `json:"freed_within_ms"` // time after which a dead holder's lock must be free; 0: any finite time
	Faults         map[string]int  `json:"faults"`          // fault budget, by name
	FaultCounts    map[string]int  `json:"happened"`        // number of schedules run whose last step is a fault, by the fault's name
	Ends           []int           `json:"ends"`            // number of end states, by the number of successful sales
	Contended      int             `json:"contended"`       // number of states in which a sale waits for another one
	Untested       []string        `json:"untested"`        // phrases for what was not tested, in the reader's language
	Cut            []string        `json:"cut"`             // omissions, in the reader's language
	Schedules      int             `json:"schedules"`       // number of schedules run
	States         int             `json:"states"`          // number of states reached
	Depth          int             `json:"depth"`           // length of the longest schedule run, in steps
	Complete       bool            `json:"complete"`        // nothing was left to explore
	Bound          string          `json:"bound"`           // bound that was hit, or "interrupted", in the reader's language; "": none
	Interrupted    bool            `json:"interrupted"`     // the context of the exploration ended early
	Seconds        float64         `json:"seconds"`         // duration of the exploration
	Verdict        verdict.Verdict `json:"verdict"`         // verdict on the lock
	Counterexample *Counterexample `json:"counterexample"`  // first counterexample; null: none

	Counterexamples []Counterexample `json:"counterexamples"` // all counterexamples: with --each, one for each anomaly
}

// Counterexample is a counterexample in a Document.
type Counterexample struct {
	Anomaly  explore.Anomaly      `json:"anomaly"`         // anomaly, by its id
	Says     string               `json:"says"`            // sentence about the anomaly
	Length   int                  `json:"length"`          // number of steps
	Schedule string               `json:"schedule"`        // tokens of the steps
	Nodes    int                  `json:"nodes,omitempty"` // number of masters of a lock on several; 0: one Redis
	Steps    []trace.Step         `json:"steps"`           // steps with their texts
	Why      *session.Explanation `json:"why,omitempty"`   // explanation; nil: not requested
}

// newDocument returns the document of a result; whys holds the explanation of each counterexample.
func newDocument(r explore.Result, whys []*session.Explanation) Document {
	doc := Document{
		Lock: r.Lock, Actors: r.Scenario.Actors, Sales: r.Scenario.SalesEach(), Replicas: r.Scenario.Processes(),
		Try: r.Scenario.Try, Nested: r.Scenario.Nested,
		WorkMillis: trace.Millis(r.Scenario.Work), SkewMillis: trace.Millis(r.Scenario.Skew),
		WithinMillis: trace.Millis(r.Scenario.FreedWithin), Faults: r.Scenario.Faults.Map(),
		FaultCounts: r.Coverage.Faults, Ends: r.Coverage.EndStates, Contended: r.Coverage.ContendedStates,
		Untested: r.Untested(), Cut: append([]string{}, r.Omissions()...),
		Schedules: r.Schedules, States: r.States, Depth: longestSchedule(r), Complete: r.Complete, Bound: r.Bound(), Interrupted: r.Interrupted,
		Seconds: r.Seconds, Verdict: r.Verdict(), Counterexamples: []Counterexample{},
	}
	for i, e := range r.Found {
		doc.Counterexamples = append(doc.Counterexamples,
			Counterexample{e.Anomaly(), e.Verdict, e.Length(), e.Schedule(), e.Nodes, e.Steps, whys[i]})
	}
	if len(doc.Counterexamples) > 0 {
		doc.Counterexample = &doc.Counterexamples[0]
	}
	return doc
}

// newTableDocument returns the JSON document of an exploration of every lock.
func newTableDocument(rows []explore.LockRow, actors, schedules int) map[string]any {
	locks := map[string]any{}
	for _, row := range rows {
		cells := map[explore.Anomaly]any{}
		for _, cell := range row.Cells {
			found := []map[string]any{}
			for _, f := range cell.Found {
				found = append(found, map[string]any{
					"with": f.Scenario.Name, "flags": f.Scenario.String(), "length": f.Length(), "schedule": f.Schedule(),
				})
			}
			claim := cell.Verdict()
			if !cell.Applies {
				claim = verdict.NA
			}
			cells[cell.Anomaly] = map[string]any{"verdict": claim, "found": found}
		}
		locks[row.Lock] = cells
	}
	return map[string]any{
		"actors": actors, "schedules": schedules, "interrupted": isInterrupted(rows), "locks": locks,
		"max_schedules_on_nodes": explore.MaxSchedulesOnNodes,
	}
}
