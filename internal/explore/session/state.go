package session

import (
	"slices"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/trace"
)

// State is what is so after a schedule.
type State struct {
	At       trace.Millis     `json:"at_ms"`    // of virtual time
	Servers  []Server         `json:"servers"`  // that keep the stock and the lock
	Sold     int              `json:"sold"`     // sales that have succeeded
	Due      int              `json:"due"`      // what the stock has to be then
	Holder   string           `json:"holder"`   // whose the lock is in truth, "" for nobody's
	Actors   []Actor          `json:"actors"`   // the sales
	Timers   []engine.Timer   `json:"timers"`   // that are set
	Messages []engine.Message `json:"messages"` // under way
	Left     map[string]int   `json:"left"`     // of the budget of each fault that the scenario allows
}

// Server is one Redis.
type Server struct {
	Name   string          `json:"name"`
	Health simredis.Health `json:"health"`
	Lags   bool            `json:"lags"` // a replica of it lags
	Keys   []Key           `json:"keys"`
}

// Key is one key of a server.
type Key struct {
	Name    string       `json:"name"`
	Values  []string     `json:"values"`
	Expires trace.Millis `json:"expires_ms"` // 0: never
}

// Actor is one sale.
type Actor struct {
	Name     string            `json:"name"`
	Process  string            `json:"process"`
	Stance   trace.Stance      `json:"stance"`
	Believes bool              `json:"believes"` // that it holds the lock
	Places   []engine.CallSite `json:"places"`   // in the code: of what it is about to do, or waits for
}

// stateOf looks at a run, and at the last step of its trace.
func stateOf(run *explore.Run, t trace.Trace) State {
	present := run.Engine.Snapshot()
	s := State{
		At: trace.Millis(run.Engine.Now()), Sold: run.Sold(), Due: engine.InitialStock - run.Sold(), Servers: []Server{}, Actors: []Actor{},
		Timers: present.Timers, Messages: present.Messages, Left: map[string]int{},
	}
	for _, f := range explore.AllFaults() {
		if run.Engine.Scenario.Faults[f.ID] > 0 {
			s.Left[f.Name] = present.RemainingBudget[f.ID]
		}
	}
	if holder := run.Holder(); holder != nil {
		s.Holder = holder.Name
	}
	for _, server := range run.Engine.Cluster.Servers() {
		s.Servers = append(s.Servers, serverOf(server, run.Engine.Scenario))
	}
	for i, a := range run.Engine.Actors() {
		stance := trace.Absent
		if len(t.Steps) > 0 {
			stance = t.Steps[len(t.Steps)-1].Standing[i]
		}
		s.Actors = append(s.Actors, Actor{a.Name, a.Process.Name, stance, run.IsInCriticalSection(a), a.CallSites()})
	}
	return s
}

func serverOf(s *simredis.Server, in explore.Scenario) Server {
	keys := []Key{}
	for _, k := range s.State.Keys {
		if dao.IsKey(k.Name) && !k.IsString() {
			continue // the run, or the ledger
		}
		values := slices.Clone(k.Values)
		for i, value := range values {
			values[i] = simredis.RelativeTimes(value)
		}
		keys = append(keys, Key{k.Name, values, trace.Millis(k.TTL.Round(time.Millisecond))})
	}
	return Server{serverName(s.Index, in), s.Health, s.Standby != nil && !s.StandbyIsSnapshot, keys}
}
