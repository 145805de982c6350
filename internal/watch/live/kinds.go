package live

import (
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/watch/witness"
)

// Kind is what a kind of finding is called, and which exploration of the run's lock shows it; nil: none does.
type Kind struct {
	Title string       `json:"title"`
	Shown *Exploration `json:"shown"`
}

// Exploration is what the scheduler's seat is to look for.
type Exploration struct {
	In      string `json:"in"` // flags of lockstep explore
	Anomaly string `json:"anomaly"`
}

// kinds are all kinds of findings, by their names, for a run with a lock.
func kinds(lock string, in language.Language) map[string]Kind {
	row, err := evolution.Find(lock)
	all := map[string]Kind{}
	for name, title := range witness.Titles() {
		kind := Kind{Title: title.In(in)}
		if err == nil {
			kind.Shown = exploration(row, witness.FindingKind(name))
		}
		all[name] = kind
	}
	return all
}

// exploration shows a kind of finding. A lock that is renewed expires only if its holder is paused; without a lock, there is nobody who
// holds it.
func exploration(row strategy.Strategy, kind witness.FindingKind) *Exploration {
	shown := explorations()[kind]
	switch {
	case shown.Anomaly == "":
		return nil
	case row.Name == "v0":
		return &Exploration{In: "--actors 2", Anomaly: "lost-update"}
	case kind == witness.WaitsForItself && !row.Capabilities.Expires:
		shown.Anomaly = "stuck"
	case row.Capabilities.Renewed:
		shown.In = strings.ReplaceAll(shown.In, "expiry", "pause")
	}
	shown.In = "--actors 2 " + shown.In
	return &shown
}

// explorations are, by what they show, those of a lock that expires and is not renewed.
func explorations() map[witness.FindingKind]Exploration {
	expiry, pause, crash := "--faults expiry=1", "--faults pause=1", "--faults crash=1"
	return map[witness.FindingKind]Exploration{
		witness.Removed:        {expiry, "foreign-release"},
		witness.Overwrote:      {pause, "two-holders"},
		witness.Prolonged:      {expiry, "foreign-release"},
		witness.ExpiredAtWork:  {expiry, "two-holders"},
		witness.Together:       {expiry, "two-holders"},
		witness.RefusedToken:   {pause, "two-holders"},
		witness.LostUpdate:     {expiry, "lost-update"},
		witness.WroteLate:      {pause, "lost-update"},
		witness.WaitedInVain:   {crash, "stuck"},
		witness.WaitsForItself: {"--nested 1", "self-deadlock"},
		witness.LeftBehind:     {crash, "left-behind"},
		witness.Forgot:         {"--faults failover=1", "two-holders"},
		witness.Idle:           {crash, "idle"},
		witness.DiedHolding:    {crash, "idle"},
		witness.PassedOver:     {crash, "idle"},
		witness.RenewedOn:      {crash, "goroutine-leak"},
	}
}
