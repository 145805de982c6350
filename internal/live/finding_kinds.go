package live

import (
	"strings"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/witness"
)

// Kind is what a kind of finding is called, and which exploration of the run's lock shows it; nil: none does.
type FindingKindInfo struct {
	Title       string       `json:"title"`
	Exploration *Exploration `json:"shown"`
}

// Exploration is what the scheduler's seat is to look for.
type Exploration struct {
	Flags   string          `json:"in"` // flags of lockstep explore
	Anomaly anomaly.Anomaly `json:"anomaly"`
}

// kinds are all kinds of findings, by their names, for a run with a lock.
func findingKinds(lock string, in language.Language) map[string]FindingKindInfo {
	row, err := evolution.Find(lock)
	all := map[string]FindingKindInfo{}
	for name, title := range witness.Titles() {
		kind := FindingKindInfo{Title: title.In(in)}
		if err == nil {
			kind.Exploration = explorationOf(row, witness.FindingKind(name))
		}
		all[name] = kind
	}
	return all
}

// exploration shows a kind of finding; nil: none does. A lock that is renewed expires only if its holder is paused; without a lock,
// there is nobody who holds it.
func explorationOf(row strategy.Strategy, kind witness.FindingKind) *Exploration {
	in := explorationFlags(kind)
	if in == "" {
		return nil
	}
	shown := Exploration{Flags: "--actors 2 " + in, Anomaly: kind.Anomaly()}
	switch {
	case row.Name == "v0":
		return &Exploration{Flags: "--actors 2", Anomaly: anomaly.LostUpdate}
	case kind == witness.WaitsForItself && !row.Capabilities.Expires:
		shown.Anomaly = anomaly.Stuck
	case row.Capabilities.Renewed:
		shown.Flags = strings.ReplaceAll(shown.Flags, "expiry", "pause")
	}
	return &shown
}

// flags are those of the exploration of a lock that expires and is not renewed; "" if none shows the finding.
func explorationFlags(kind witness.FindingKind) string {
	switch kind {
	case witness.RemovedLock, witness.ProlongedLock, witness.ExpiredAtWork, witness.Overlapped, witness.LostUpdate:
		return "--faults expiry=1"
	case witness.OverwroteLock, witness.RefusedToken, witness.WroteLate:
		return "--faults pause=1"
	case witness.WaitedInVain, witness.LeftBehind, witness.LockIdle, witness.DiedHolding, witness.DiedInQueue, witness.RenewedAfterEnd:
		return "--faults crash=1"
	case witness.WaitsForItself:
		return "--nested 1"
	case witness.RedisLostLock:
		return "--faults failover=1"
	default:
		return ""
	}
}
