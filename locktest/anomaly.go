package locktest

import "lockstep/internal/anomaly"

// Anomaly is the name of a way in which a lock fails, such as "two-holders". Says explains it.
type Anomaly string

// The anomalies that a search looks for. The command lockstep explore uses the same names.
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

// Anomalies returns all anomalies, in the order in which a search reports them.
func Anomalies() (all []Anomaly) {
	for _, a := range anomaly.ShownBy("locktest") {
		all = append(all, Anomaly(a))
	}
	return all
}

// Says explains the anomaly in a sentence.
func (a Anomaly) Says() string { return anomaly.Anomaly(a).Row().InTest }
