package seat

import (
	"net/http"
	"slices"

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
			firstOf(lock.Name), promises, s.levelOf(lock.Name, in),
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
