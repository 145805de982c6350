package seat

import (
	"net/http"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

// Index is what there is to choose from.
type Index struct {
	Locks     []Lock    `json:"locks"`
	Faults    []Fault   `json:"faults"`
	Anomalies []Anomaly `json:"anomalies"`
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

// Fault is one, how people call it, and what happens.
type Fault struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Says  string `json:"says"`
}

// Anomaly is one, how people call it, and what to make a lock do for it.
type Anomaly struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Says  string `json:"says"`
	Task  string `json:"task"`
}

// index tells what there is to choose from.
func (s *Seat) index(r *http.Request) (index Index, err error) {
	in, err := languageOf(r.URL.Query())
	if err != nil {
		return index, err
	}
	for _, lock := range evolution.Table() {
		index.Locks = append(index.Locks, Lock{
			lock.Name, lock.Title.In(in), lock.Adds.In(in), lock.Costs.In(in), lock.StillBroken.In(in), lock.OnNodes,
			firstOf(lock.Name), promisesOf(lock), s.levelOf(lock.Name),
		})
	}
	for _, fault := range explore.AllFaults() {
		index.Faults = append(index.Faults, Fault{fault.Name, explore.FaultTitle(fault.Name).In(in), fault.Says.In(in)})
	}
	for _, a := range explore.Anomalies() {
		index.Anomalies = append(index.Anomalies, Anomaly{string(a), a.Row().Title.In(in), a.Row().Says.In(in), a.Row().Task.In(in)})
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

// promisesOf lists what a lock promises to prevent.
func promisesOf(s strategy.Strategy) []explore.Anomaly {
	return slices.DeleteFunc(explore.Anomalies(), func(a explore.Anomaly) bool { return !a.IsPromisedBy(s) || a.ByName() })
}
