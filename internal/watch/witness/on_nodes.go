package witness

import (
	"time"

	"lockstep/internal/explore/trace"
)

// faults are the events that somebody else noted, with the steps that draw them.
func faults() map[Kind]string {
	return map[Kind]string{
		KindDies: trace.KindDies, KindStops: trace.KindPauses, KindGoes: trace.KindResumes,
		KindHeld: trace.KindWaits, KindFreed: trace.KindWaits, KindCut: trace.KindWaits, KindMend: trace.KindWaits,
		KindMessageLost: trace.KindWaits,
		KindEmptied:     trace.KindRestarts, KindCrashes: trace.KindCrashes, KindLags: trace.KindLags, KindFailsOver: trace.KindFailover,
	}
}

// nodesAt gives what is so on each of several masters at a moment.
func (a *Account) nodesAt(at time.Time) (all []trace.Node) {
	for range a.nodes {
		all = append(all, trace.Node{Health: trace.Well})
	}
	for _, event := range a.Events {
		if event.Kind == KindCrashes && event.Node > 0 && event.Node <= len(all) && !event.Replied.After(at) {
			all[event.Node-1].Health = trace.Crashed
		}
	}
	for _, h := range a.OnNodes {
		if h.covers(at) {
			all[h.Node-1].Lock = h.Holder
		}
	}
	return all
}
