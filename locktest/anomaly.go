package locktest

// Anomaly is something that goes wrong.
type Anomaly string

// The anomalies.
const (
	TwoHolders     Anomaly = "two-holders"
	ForeignRelease Anomaly = "foreign-release"
	LeftBehind     Anomaly = "left-behind"
	Stuck          Anomaly = "stuck"
	Busy           Anomaly = "busy"
	GoroutineLeak  Anomaly = "goroutine-leak"
	TokenOrder     Anomaly = "token-order"
	Unattributed   Anomaly = "unattributed"
)

// Anomalies returns all of them.
func Anomalies() []Anomaly {
	return []Anomaly{TwoHolders, ForeignRelease, LeftBehind, Stuck, Busy, GoroutineLeak, TokenOrder, Unattributed}
}

// Says explains it. Where it says "for ever", a lock that expires stays until then.
func (a Anomaly) Says() string {
	return map[Anomaly]string{
		TwoHolders:     "two actors may believe at the same time that they hold the lock, by all that the library has told them",
		ForeignRelease: "a process removes or overwrites a lock that an actor of another process holds",
		LeftBehind: "a lock stays until it expires, or for ever: its actor was told that it has no lock, or that it has released it; " +
			"or its process has crashed, and nobody gets the lock any more",
		Stuck:         "a call does not come back within ten minutes, although nobody holds the lock and nothing is on its way",
		Busy:          "a process sends 20 commands or more, one after the other, and no time passes",
		GoroutineLeak: "a goroutine is left when all calls have come back and all clients are closed",
		TokenOrder:    "a holder's fencing token is not larger than an earlier holder's",
		Unattributed:  "a process changes a lock that another holds, and no value says whose it is then: it may be right or wrong",
	}[a]
}
