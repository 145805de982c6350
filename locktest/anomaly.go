package locktest

import "lockstep/internal/anomaly"

// Anomaly is the name of a way in which a lock fails, such as "two-holders". Says explains it.
type Anomaly string

// The anomalies that a search looks for. Anomalies that the command lockstep explore also finds have the same names there.
const (
	TwoHolders     Anomaly = "two-holders"     // two actors believe at the same time that they hold the lock
	ForeignRelease Anomaly = "foreign-release" // a process removes or overwrites another's lock
	LeftBehind     Anomaly = "left-behind"     // a lock stays although nobody holds it
	Stuck          Anomaly = "stuck"           // a call does not return within ten minutes, although nobody holds the lock
	Busy           Anomaly = "busy"            // a process sends 20 commands or more in a row without a pause
	GoroutineLeak  Anomaly = "goroutine-leak"  // a goroutine outlives the run
	TokenOrder     Anomaly = "token-order"     // a holder's fencing token is not larger than an earlier holder's
	Unattributed   Anomaly = "unattributed"    // a process changes a lock, and no value shows to whom the lock belongs
)

// Anomalies returns all anomalies, in the order in which a search reports them.
func Anomalies() (all []Anomaly) {
	for _, a := range anomaly.ShownBy("locktest") {
		all = append(all, Anomaly(a))
	}
	return all
}

// Says explains the anomaly in a sentence.
func (a Anomaly) Says() string { return anomaly.Anomaly(a).Row().InTest }
