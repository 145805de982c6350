package locktest

import "lockstep/internal/anomaly"

// Anomaly is something that goes wrong.
type Anomaly string

// The anomalies. Those that lockstep explore finds, too, have its names.
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
func Anomalies() (all []Anomaly) {
	for _, a := range anomaly.ShownBy("locktest") {
		all = append(all, Anomaly(a))
	}
	return all
}

// Says explains it. Where it says "for ever", a lock that expires stays until then.
func (a Anomaly) Says() string { return anomaly.Anomaly(a).Row().InTest }
