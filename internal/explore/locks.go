package explore

import (
	"slices"
	"strings"

	"lockstep/internal/explore/engine"
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

// nodes returns the masters that the lock is on, if there are several.
func (r *Recorder) nodes() (all []trace.Node) {
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

// where says on which of several nodes something was done.
func (r *Recorder) where() string {
	if r.step.Node == 0 {
		return ""
	}
	return r.say(" on node %d", "（节点 %d）", r.step.Node)
}

// lockSentence tells what a's command did to the lock, from what Redis held before it and holds now; "" if it did nothing.
func (r *Recorder) lockSentence(before view, a *engine.Actor) string {
	was, is, on := before.locks[r.step.Node], r.locks()[r.step.Node], r.where()
	changed, whose := !slices.Equal(was.Values, is.Values), r.whose(was.holder)
	switch {
	case !was.has && is.has:
		return r.say("%s takes the lock%s", "%s 拿到锁%s", a.Name, on)
	case !was.has:
		return ""
	case !is.has && was.holder == a.Index:
		return r.say("%s gives the lock back%s", "%s 释放锁%s", a.Name, on)
	case !is.has:
		return r.say("%s removes %s lock%s", "%s 删除了%s锁%s", a.Name, whose, on)
	case was.holder == a.Index && is.holder >= 0 && is.holder != a.Index:
		return r.say("%s hands the lock to %s", "%s 把锁移交给 %s", a.Name, r.x.Actors()[is.holder].Name)
	case was.holder != a.Index && is.holder == a.Index:
		return r.say("%s takes the lock%[3]s, which was %[2]s", "%s 拿到锁%[3]s，它原来是%[2]s", a.Name, whose, on)
	case len(is.Values) == 1 && changed:
		return r.say("%s writes over %s lock%s", "%s 覆盖了%s锁%s", a.Name, whose, on)
	case changed:
		return r.say("%s counts its lock: %s", "%s 更新自己锁的重入次数：%s", a.Name, simredis.Relative(strings.Join(is.Values[1:], " ")))
	case is.TTL > was.TTL && was.holder == a.Index:
		return r.say("%s renews its lock%s", "%s 给自己的锁续期%s", a.Name, on)
	case is.TTL > was.TTL:
		return r.say("%s renews %s lock%s", "%s 给%s锁续期%s", a.Name, whose, on)
	default:
		return ""
	}
}

// found tells what a's command, which did nothing, has found.
func (r *Recorder) found(a *engine.Actor) string {
	switch is := r.locks()[r.step.Node]; {
	case r.down():
		return r.say("%s does not reach node %d", "%s 连不上节点 %d", a.Name, r.step.Node)
	case !is.has:
		return r.say("%s finds no lock%s", "%s 没有发现锁%s", a.Name, r.where())
	default:
		return r.say("%s finds the lock%s to be %s", "%s 发现锁%s是%s", a.Name, r.where(), r.whose(is.holder))
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
			return r.say(": %s expires", "：%s过期", r.lockOf(was.holder))
		case says == "":
			says = r.say(": %s expires on node %d", "：%s在节点 %d 上过期", r.lockOf(was.holder), i)
		default:
			says += r.say(", %s on node %d", "，%s在节点 %d 上过期", strings.TrimSpace(r.whose(was.holder)), i)
		}
	}
	return says
}

// lost tells how the lock has changed, if no actor did it.
func (r *Recorder) lost(before view) string {
	switch was, is := before.locks[0], r.locks()[0]; {
	case was.has && !is.has:
		return r.say(": %s is gone", "：%s丢失", r.lockOf(was.holder))
	case is.has && (!was.has || is.holder != was.holder):
		return r.say(": the lock is %s again", "：锁又是%s了", r.whose(is.holder))
	default:
		return ""
	}
}

// name returns a holder's, or nobody: the same in each language.
func (r *Recorder) name(holder int) string {
	if holder < 0 {
		return trace.Nobody
	}
	return r.x.Actors()[holder].Name
}

// whose says whose a lock is. In Chinese it stands after another word: a name has spaces around it.
func (r *Recorder) whose(holder int) string {
	if holder < 0 {
		return r.say("nobody's", "无人持有的")
	}
	return r.say("%s's", " %s 的", r.name(holder))
}

// lockOf returns somebody's lock, at the beginning of a sentence.
func (r *Recorder) lockOf(holder int) string {
	return strings.TrimSpace(r.say("%s lock", "%s锁", r.whose(holder)))
}
