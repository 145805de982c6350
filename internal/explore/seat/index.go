package seat

import (
	"net/http"
	"slices"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
)

// Index lists the locks, faults and anomalies to choose from.
type Index struct {
	Locks     []Lock      `json:"locks"`
	Faults    []NamedItem `json:"faults"`
	Anomalies []NamedItem `json:"anomalies"`
}

// Lock describes a strategy in the reader's language.
type Lock struct {
	Name        string            `json:"name"`         // name of the strategy
	Title       string            `json:"title"`        // display name
	Adds        string            `json:"adds"`         // improvement over the previous lock
	Costs       string            `json:"costs"`        // cost of the lock
	StillBroken string            `json:"still_broken"` // flaws that the lock still has
	OnNodes     bool              `json:"on_nodes"`     // the lock is on several masters
	Anomaly     explore.Anomaly   `json:"anomaly"`      // anomaly to try first with the lock
	Promises    []explore.Anomaly `json:"promises"`     // anomalies that the lock promises to prevent
	Level       *Level            `json:"level"`        // level of the lock; null: its row of the table is not known yet
}

// NamedItem is a fault or an anomaly, with its display name and description.
type NamedItem struct {
	Name  string `json:"name"`           // name in flags and schedules
	Title string `json:"title"`          // display name
	Says  string `json:"says"`           // description
	Task  string `json:"task,omitempty"` // task of a reader who wants to show the anomaly; "": a fault
}

// handleIndex handles GET /seat: it returns the Index.
func (s *Seat) handleIndex(r *http.Request) (index Index, err error) {
	in, err := parseLanguage(r.URL.Query())
	if err != nil {
		return index, err
	}
	for _, lock := range evolution.Table() {
		promises := slices.DeleteFunc(explore.Anomalies(), func(a explore.Anomaly) bool { return !isPromised(a, lock) })
		index.Locks = append(index.Locks, Lock{
			lock.Name, lock.Title.In(in), lock.Adds.In(in), lock.Costs.In(in), lock.StillBroken.In(in), lock.OnNodes,
			firstAnomaly(lock.Name), promises, s.levelOf(lock.Name, in),
		})
	}
	for _, f := range explore.AllFaults() {
		index.Faults = append(index.Faults, NamedItem{Name: f.Name, Title: f.Title.In(in), Says: f.Description.In(in)})
	}
	for _, a := range explore.Anomalies() {
		index.Anomalies = append(index.Anomalies, NamedItem{string(a), a.Row().Title.In(in), a.Row().Says.In(in), a.Row().Task.In(in)})
	}
	return index, nil
}
