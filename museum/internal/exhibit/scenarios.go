// Package exhibit is the table of what the libraries show: which scenarios they are put into, and what is found.
package exhibit

import (
	"lockstep/internal/language"
	"lockstep/internal/lock/anomaly"

	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
)

// Anomalies are what is looked for.
func Anomalies() []anomaly.Anomaly {
	return []anomaly.Anomaly{anomaly.TwoHolders, anomaly.ForeignRelease, anomaly.LeftBehind, anomaly.Stuck, play.Busy, anomaly.GoroutineLeak}
}

// Says tells what an anomaly is here. All locks of the museum expire, so that "for ever" is "until it expires".
func Says(a anomaly.Anomaly) string {
	switch a {
	case anomaly.TwoHolders:
		return "two actors may believe at the same time that they hold the lock, by all that the library has told them"
	case anomaly.ForeignRelease:
		return "a process removes or overwrites a lock that an actor of another process holds"
	case anomaly.LeftBehind:
		return "a lock stays until it expires, or for ever: its actor was told that it has no lock, or that it has released it"
	case anomaly.Stuck:
		return "a call does not come back within ten minutes, although nobody holds the lock and nothing is on its way"
	case play.Busy:
		return "a process sends command upon command, 20 and more, and no time passes"
	case anomaly.GoroutineLeak:
		return "a goroutine is left when all calls have come back and all clients are closed"
	default:
		return a.Row().Says.In(language.English)
	}
}

// Scenarios are those that a library is put into. A scenario comes after those that allow less.
func Scenarios(l library.Library) []play.Scenario {
	if l.PortOf != "" {
		return ofPort(l)
	}
	if l.Shares {
		return []play.Scenario{{Actors: 3, Together: true}}
	}
	once := func(faults ...play.Fault) (s play.Scenario) {
		s.Actors = 2
		for _, f := range faults {
			s.Faults[f]++
		}
		return s
	}
	all := []play.Scenario{
		once(), once(play.Slow), once(play.LostReply), once(play.LostRequest), once(play.Cancel),
		once(play.Slow, play.Late), once(play.LostReply, play.Cancel), once(play.Crash), once(play.Pause),
	}
	if l.Nodes > 1 {
		all = append(all, once(play.NodeRestart))
	}
	if l.Wakes {
		all = append(all, play.Scenario{Actors: 3, Together: true, Faults: once(play.Cancel).Faults})
	}
	return all
}

// ofPort are the scenarios of a port: without a fault, and with that of its issue.
func ofPort(l library.Library) []play.Scenario {
	all := []play.Scenario{{Actors: 2}}
	if faults, err := play.ParseBudget(l.Faults); err == nil {
		all = append(all, play.Scenario{Actors: 2, Faults: faults})
	}
	return all
}
