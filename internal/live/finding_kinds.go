package live

import (
	"strings"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/witness"
)

// FindingKindInfo describes a kind of finding to the page.
type FindingKindInfo struct {
	Title       string       `json:"title"`
	Exploration *Exploration `json:"shown"` // exploration that shows such a finding with the run's lock; nil: none does
}

// Exploration is an exploration that the scheduler's seat can open.
type Exploration struct {
	Flags   string          `json:"in"` // flags of lockstep explore
	Anomaly anomaly.Anomaly `json:"anomaly"`
}

// findingKinds returns all kinds of findings by name, for a run with a lock.
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

// explorationOf returns an exploration that shows a kind of finding with a lock; nil if none does. For a renewed lock, which expires only
// if its holder is paused, the exploration has a pause instead of an expiry. For v0, which has no holder, it shows a lost update.
func explorationOf(row strategy.Strategy, kind witness.FindingKind) *Exploration {
	flags := explorationFlags(kind)
	if flags == "" {
		return nil
	}
	exploration := Exploration{Flags: "--actors 2 " + flags, Anomaly: kind.Anomaly()}
	switch {
	case row.Name == "v0":
		return &Exploration{Flags: "--actors 2", Anomaly: anomaly.LostUpdate}
	case kind == witness.WaitsForItself && !row.Capabilities.Expires:
		exploration.Anomaly = anomaly.Stuck
	case row.Capabilities.Renewed:
		exploration.Flags = strings.ReplaceAll(exploration.Flags, "expiry", "pause")
	}
	return &exploration
}

// explorationFlags returns the flags of an exploration that shows a kind of finding with a lock that expires and is not renewed; empty if
// there is none.
func explorationFlags(kind witness.FindingKind) string {
	switch kind {
	case witness.RemovedLock, witness.ExtendedLock, witness.ExpiredAtWork, witness.Overlapped, witness.LostUpdate:
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
