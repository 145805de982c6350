package seat

import (
	"net/http"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
)

// Index is what there is to choose from.
type Index struct {
	Locks     []Lock  `json:"locks"`
	Faults    []Named `json:"faults"`
	Anomalies []Named `json:"anomalies"`
}

// Lock is a strategy, as the table has it.
type Lock struct {
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Adds        string            `json:"adds"`
	Costs       string            `json:"costs"`
	StillBroken string            `json:"still_broken"`
	OnNodes     bool              `json:"on_nodes"`
	Anomaly     explore.Anomaly   `json:"anomaly"`  // to try first with it
	Promises    []explore.Anomaly `json:"promises"` // to prevent
	Level       *Level            `json:"level"`    // null: the table does not know it yet
}

// Named is a fault or an anomaly, how people call it, and what happens.
type Named struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Says  string `json:"says"`
	Task  string `json:"task,omitempty"` // what to make a lock do for an anomaly
}

// index tells what there is to choose from.
func (s *Seat) index(r *http.Request) (index Index, err error) {
	in, err := languageOf(r.URL.Query())
	if err != nil {
		return index, err
	}
	for _, lock := range evolution.Table() {
		promises := slices.DeleteFunc(explore.Anomalies(), func(a explore.Anomaly) bool { return !isPromised(a, lock) })
		index.Locks = append(index.Locks, Lock{
			lock.Name, lock.Title.In(in), lock.Adds.In(in), lock.Costs.In(in), lock.StillBroken.In(in), lock.OnNodes,
			firstOf(lock.Name), promises, s.levelOf(lock.Name),
		})
	}
	for _, f := range explore.AllFaults() {
		index.Faults = append(index.Faults, Named{Name: f.Name, Title: f.Title.In(in), Says: f.Description.In(in)})
	}
	for _, a := range explore.Anomalies() {
		index.Anomalies = append(index.Anomalies, Named{string(a), a.Row().Title.In(in), a.Row().Says.In(in), a.Row().Task.In(in)})
	}
	return index, nil
}

// firstOf gives the anomaly to try first with a lock.
func firstOf(lock string) explore.Anomaly {
	switch lock {
	case "v0", "v6", "v7", "atomic", "optimistic", "segmented", "late-commit":
		return anomaly.LostUpdate
	case "non-idempotent":
		return anomaly.DoubleSale
	case "v1":
		return anomaly.Stuck
	case "v4", "delex":
		return anomaly.SelfDeadlock
	case "v2", "v3":
		return anomaly.ForeignRelease
	case "setnx-expire":
		return anomaly.LeftBehind
	default:
		return anomaly.TwoHolders
	}
}

// Level asks a reader to break a lock in as few steps as possible. The scenario is that of the table.
type Level struct {
	Anomaly    explore.Anomaly `json:"anomaly"` // "": none is shown in any scenario of the table
	In         string          `json:"in"`      // the scenario, as flags
	Steps      int             `json:"steps"`   // of the shortest schedule
	KeepsStock bool            `json:"keeps_stock"`
}

// levelOf gives the level of a lock; nil, as long as its row of the table is not known.
func (s *Seat) levelOf(lock string) *Level {
	row, ok := s.rows.Get(lock)
	if !ok {
		return nil
	}
	level := Level{KeepsStock: true}
	for _, cell := range row.Cells {
		shown := explore.Anomaly(cell.Anomaly)
		if shown == anomaly.LostUpdate || shown == anomaly.DoubleSale {
			level.KeepsStock = level.KeepsStock && cell.Answer == "never"
		}
		if cell.Answer == "broken" && (level.Steps == 0 || shown == firstOf(lock)) {
			level.Anomaly, level.Steps = shown, cell.Steps
			level.In, _ = cell.where()
		}
	}
	return &level
}
