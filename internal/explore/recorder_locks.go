package explore

import (
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/trace"
)

// serverLock is the lock's key on one server.
type serverLock struct {
	simredis.Key
	exists bool // the server has the key
	holder int  // index of the actor that owns the lock there; negative: nobody does
}

// locks returns the lock on each server, by server index.
func (r *recorder) locks() (all []serverLock) {
	for _, s := range r.engine.Cluster.Servers() {
		l := serverLock{holder: r.judge.Holder()}
		if r.engine.Cluster.OnNodes() {
			l.holder = r.judge.Owner(s.Index)
		}
		l.Key, l.exists = s.State.Key(lock.Key)
		all = append(all, l)
	}
	return all
}

// nodes returns the state of each master that holds the lock, or nil if the lock is on a single server.
func (r *recorder) nodes() (all []trace.Node) {
	if !r.engine.Cluster.OnNodes() {
		return nil
	}
	locks := r.locks()
	for _, s := range r.engine.Cluster.Masters() {
		node := trace.Node{Health: trace.Health(s.Health)}
		if l := locks[s.Index]; l.exists {
			node.Lock = r.holderName(l.holder)
		}
		all = append(all, node)
	}
	return all
}

// isNodeDown reports whether the node that the step's command was for refuses connections.
func (r *recorder) isNodeDown() bool {
	return r.step.Node > 0 && r.engine.Cluster.Servers()[r.step.Node].Health == simredis.Crashed
}

// holderName returns the name of a holder, or trace.Nobody for a negative index. The name is the same in every language.
func (r *recorder) holderName(holder int) string {
	if holder < 0 {
		return trace.Nobody
	}
	return r.engine.Actors()[holder].Name
}
