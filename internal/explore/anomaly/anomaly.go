// Package anomaly names what can go wrong with a lock: the things that the explorer looks for.
package anomaly

import "lockstep/internal/strategy"

// Anomaly is one kind of thing that goes wrong.
type Anomaly string

// The anomalies, in the order in which they are looked for.
const (
	TwoHolders     Anomaly = "two-holders"
	LostUpdate     Anomaly = "lost-update"
	ForeignRelease Anomaly = "foreign-release"
	LeftBehind     Anomaly = "left-behind"
	Stuck          Anomaly = "stuck"
	Untold         Anomaly = "untold"
	GoroutineLeak  Anomaly = "goroutine-leak"
	FalseWord      Anomaly = "false-word"
	TokenOrder     Anomaly = "token-order"
	Progress       Anomaly = "progress"
	Idle           Anomaly = "idle"
	Starved        Anomaly = "starved"
)

// All lists them.
func All() []Anomaly {
	return []Anomaly{
		TwoHolders, LostUpdate, ForeignRelease, LeftBehind, Stuck, Untold, GoroutineLeak, FalseWord, TokenOrder, Progress, Idle, Starved,
	}
}

// Says tells what goes wrong.
func (a Anomaly) Says() string {
	switch a {
	case TwoHolders:
		return "two sales believe at the same time that they hold the lock"
	case LostUpdate:
		return "a sale writes over the update of another sale"
	case ForeignRelease:
		return "a sale removes, overwrites or prolongs a lock that another sale holds"
	case LeftBehind:
		return "a lock stays for ever, although no sale holds it"
	case Stuck:
		return "a sale can never go on"
	case Untold:
		return "a sale has lost the lock and works on, and nothing tells it"
	case GoroutineLeak:
		return "a goroutine still runs after its sale has ended"
	case FalseWord:
		return "Unlock, or an error, says what is not so"
	case TokenOrder:
		return "a later holder's fencing token is not larger, or a nested call's is another one"
	case Progress:
		return "a sale fails although nothing went wrong"
	case Idle:
		return "nobody living holds the lock, and waiters get it only when time frees it"
	case Starved:
		return "a sale is overtaken more than --overtakes times by sales that asked after it"
	default:
		return ""
	}
}

// Applies reports whether a strategy promises that this does not happen. A strategy without a lock keeps nobody out, and only a lock
// in Redis can be lost there.
func (a Anomaly) Applies(s strategy.Strategy) bool {
	switch a {
	case LostUpdate, Stuck, GoroutineLeak, Progress:
		return true
	case Starved:
		return s.Capabilities.InOrder
	case TwoHolders:
		return s.Scope != strategy.Nobody
	default:
		return s.Scope == strategy.Everybody
	}
}

// ByName reports whether it is looked for only where somebody names it.
func (a Anomaly) ByName() bool { return a == Starved }

// Found is an anomaly that a schedule has shown, in words.
type Found struct {
	Anomaly Anomaly
	Says    string
}
