package recorder

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/explore/execution"
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
func (r *Recorder) locks() (all []held) {
	for _, s := range r.x.Cluster.Servers() {
		h := held{holder: r.checker.Holder()}
		if r.x.Cluster.OnNodes() {
			h.holder = r.checker.Owner(s.Index)
		}
		h.Key, h.has = s.Holds.Key(lock.Key)
		all = append(all, h)
	}
	return all
}

// nodes are the masters that the lock is on, if there are several.
func (r *Recorder) nodes() (all []trace.Node) {
	if !r.x.Cluster.OnNodes() {
		return nil
	}
	locks := r.locks()
	for _, s := range r.x.Cluster.Masters() {
		node := trace.Node{Health: trace.Well}
		switch s.Health {
		case simredis.Hung:
			node.Health = trace.Hung
		case simredis.Crashed:
			node.Health = trace.Crashed
		default:
		}
		if h := locks[s.Index]; h.has {
			node.Lock = r.name(h.holder)
		}
		all = append(all, node)
	}
	return all
}

// where says on which of several nodes something was done.
func (r *Recorder) where() string {
	if r.step.Node == 0 {
		return ""
	}
	return fmt.Sprintf(" on node %d", r.step.Node)
}

// saysOfLock tells what a's command did to the lock, from what Redis held before it and holds now; "" if it did nothing.
func (r *Recorder) saysOfLock(before view, a *execution.Actor) string {
	was, is, on := before.locks[r.step.Node], r.locks()[r.step.Node], r.where()
	changed := !slices.Equal(was.Values, is.Values)
	switch {
	case !was.has && is.has:
		return a.Name + " takes the lock" + on
	case !was.has:
		return ""
	case !is.has && was.holder == a.Index:
		return a.Name + " gives the lock back" + on
	case !is.has:
		return a.Name + " removes " + r.whose(was.holder) + " lock" + on
	case was.holder == a.Index && is.holder >= 0 && is.holder != a.Index:
		return a.Name + " hands the lock to " + r.x.Actors()[is.holder].Name
	case was.holder != a.Index && is.holder == a.Index:
		return a.Name + " takes the lock" + on + ", which was " + r.whose(was.holder)
	case len(is.Values) == 1 && changed:
		return a.Name + " writes over " + r.whose(was.holder) + " lock" + on
	case changed:
		return a.Name + " counts its lock: " + strings.Join(is.Values[1:], " ")
	case is.TTL > was.TTL && was.holder == a.Index:
		return a.Name + " renews its lock" + on
	case is.TTL > was.TTL:
		return a.Name + " renews " + r.whose(was.holder) + " lock" + on
	default:
		return ""
	}
}

// found tells what a's command, which did nothing, has found.
func (r *Recorder) found(a *execution.Actor) string {
	switch is := r.locks()[r.step.Node]; {
	case r.down():
		return a.Name + " does not reach node " + fmt.Sprint(r.step.Node)
	case !is.has:
		return a.Name + " finds no lock" + r.where()
	default:
		return a.Name + " finds the lock" + r.where() + " to be " + r.whose(is.holder)
	}
}

// down reports whether the command's node refuses connections.
func (r *Recorder) down() bool {
	return r.step.Node > 0 && r.x.Cluster.Servers()[r.step.Node].Health == simredis.Crashed
}

// expired tells whose lock has gone by itself.
func (r *Recorder) expired(before view) (says string) {
	for i, is := range r.locks() {
		switch was := before.locks[i]; {
		case !was.has || was.TTL == 0 || is.has:
		case says == "" && !r.x.Cluster.OnNodes():
			return ": " + r.whose(was.holder) + " lock expires"
		case says == "":
			says = fmt.Sprintf(": %s lock expires on node %d", r.whose(was.holder), i)
		default:
			says += fmt.Sprintf(", %s on node %d", r.whose(was.holder), i)
		}
	}
	return says
}

// name is a holder's, or nobody.
func (r *Recorder) name(holder int) string {
	if holder < 0 {
		return "nobody"
	}
	return r.x.Actors()[holder].Name
}

func (r *Recorder) whose(holder int) string { return r.name(holder) + "'s" }
