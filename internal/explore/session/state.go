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

// State is the state after a schedule.
type State struct {
	At       trace.Millis     `json:"at_ms"`    // virtual time since the start
	Servers  []Server         `json:"servers"`  // server with the stock, and then the masters of a lock on several masters
	Sold     int              `json:"sold"`     // sales that have succeeded
	Due      int              `json:"due"`      // correct stock after these sales
	Holder   string           `json:"holder"`   // actor that actually holds the lock; "": none
	Actors   []Actor          `json:"actors"`   // actors of the scenario
	Timers   []engine.Timer   `json:"timers"`   // timers that have not fired
	Messages []engine.Message `json:"messages"` // pub/sub messages in flight
	Left     map[string]int   `json:"left"`     // remaining budget of each fault that the scenario allows, by name
}

// Server is the state of one Redis server.
type Server struct {
	Name   string          `json:"name"`   // display name
	Health simredis.Health `json:"health"` // state of the server's process
	Lags   bool            `json:"lags"`   // the server's replica has not received the last changes
	Keys   []Key           `json:"keys"`   // keys, without those of the run and the ledger
}

// Key is a key on a server.
type Key struct {
	Name    string       `json:"name"`
	Values  []string     `json:"values"`     // values, in the order of simredis.Key.Values
	Expires trace.Millis `json:"expires_ms"` // time until it expires; 0: never
}

// Actor is the state of one actor.
type Actor struct {
	Name     string            `json:"name"`     // name in schedules, such as A
	Process  string            `json:"process"`  // name of the actor's process
	Stance   trace.Stance      `json:"stance"`   // whether the actor runs, and what it believes
	Believes bool              `json:"believes"` // the actor believes that it holds the lock
	Places   []engine.CallSite `json:"places"`   // call site of the next command or the wait of each of its tasks
}

// stateOf returns the state of a run; t is its trace so far.
func stateOf(run *explore.Run, t trace.Trace) State {
	present := run.Engine.Snapshot()
	s := State{
		At: trace.Millis(run.Engine.Now()), Sold: run.SoldCount(), Due: engine.InitialStock - run.SoldCount(),
		Servers: []Server{}, Actors: []Actor{}, Timers: present.Timers, Messages: present.Messages, Left: map[string]int{},
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

// serverOf returns the state of a server, without the keys of the run and the ledger.
func serverOf(s *simredis.Server, scenario explore.Scenario) Server {
	keys := []Key{}
	for _, k := range s.State.Keys {
		if dao.IsKey(k.Name) && !k.IsString() {
			continue // keys of the run and the ledger
		}
		values := slices.Clone(k.Values)
		for i, value := range values {
			values[i] = simredis.RelativeTimes(value)
		}
		keys = append(keys, Key{k.Name, values, trace.Millis(k.TTL.Round(time.Millisecond))})
	}
	return Server{serverName(s.Index, scenario), s.Health, s.Standby != nil && !s.StandbyIsSnapshot, keys}
}
