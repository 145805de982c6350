package explore

import (
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/trace"
)

// held is the lock on one server.
type held struct {
	simredis.Key
	has    bool
	holder int
}

// locks looks at the lock on each server.
func (r *recorder) locks() (all []held) {
	for _, s := range r.x.Cluster.Servers() {
		h := held{holder: r.judge.Holder()}
		if r.x.Cluster.OnNodes() {
			h.holder = r.judge.Owner(s.Index)
		}
		h.Key, h.has = s.State.Key(lock.Key)
		all = append(all, h)
	}
	return all
}

// nodes returns the masters that the lock is on, if there are several.
func (r *recorder) nodes() (all []trace.Node) {
	if !r.x.Cluster.OnNodes() {
		return nil
	}
	locks := r.locks()
	for _, s := range r.x.Cluster.Masters() {
		node := trace.Node{Health: trace.Health(s.Health)}
		if h := locks[s.Index]; h.has {
			node.Lock = r.name(h.holder)
		}
		all = append(all, node)
	}
	return all
}

// down reports whether the command's node refuses connections.
func (r *recorder) down() bool {
	return r.step.Node > 0 && r.x.Cluster.Servers()[r.step.Node].Health == simredis.Crashed
}

// name returns a holder's, or nobody: the same in each language.
func (r *recorder) name(holder int) string {
	if holder < 0 {
		return trace.Nobody
	}
	return r.x.Actors()[holder].Name
}
