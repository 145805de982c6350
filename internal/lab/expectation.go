package lab

import (
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Expectation is the outcome that a lab expects of some locks, with the reason.
type Expectation struct {
	Locks    LockNames
	Observed verdict.Verdict // expected verdict; NA: the lab does not apply to these locks
	Why      language.Text
	In       string // scenario of explore --all that shows the outcome; empty: all scenarios are searched
}

// LockNames lists locks by their names in the evolution.
type LockNames []string

// Steps returns the names of the steps first to last of the evolution: Steps(2, 4) is v2, v3, v4.
func Steps(first, last int) (names LockNames) {
	for n := first; n <= last; n++ {
		names = append(names, "v"+strconv.Itoa(n))
	}
	return names
}

// StepsFrom returns the names of the step first and of all later steps of the evolution.
func StepsFrom(first int) (names LockNames) {
	for _, name := range evolution.Names() {
		if step(name) >= first {
			names = append(names, name)
		}
	}
	return names
}

// and returns the list with more names.
func (n LockNames) and(more ...string) LockNames { return append(slices.Clip(n), more...) }

// noLock returns the strategies that keep no other process out of the critical section.
func noLock() LockNames {
	return LockNames{"v0", "local", "atomic", "optimistic", "non-idempotent", "set-expire", "setex"}
}

// broken expects that the lab shows its anomaly.
func broken(locks LockNames, english, chinese string) Expectation {
	return Expectation{Locks: locks, Observed: verdict.Broken, Why: language.Both(english, chinese)}
}

// expectHolds expects that the locks keep what the lab's claim promises.
func expectHolds(locks LockNames, english, chinese string) Expectation {
	return Expectation{Locks: locks, Observed: verdict.Holds, Why: language.Both(english, chinese)}
}

// without expects nothing: the lab does not apply to these locks.
func without(locks LockNames, english, chinese string) Expectation {
	return Expectation{Locks: locks, Observed: verdict.NA, Why: language.Both(english, chinese)}
}

// Expectations that several labs share.

func nobodyHolds() Expectation {
	return without(noLock(), "there is no lock that one alone holds", "没有互斥的锁")
}
func nobodyWaits() Expectation {
	return without(noLock(), "nobody waits for another process", "没有人等待别的进程")
}
func nothingToWaitFor() Expectation {
	return without(noLock(), "there is no lock that the other would wait for", "没有让另一单等待的锁")
}
func excludesNobody() Expectation {
	return without(noLock(), "it keeps no other process out", "它拦不住别的进程")
}
func notInRedis() Expectation {
	return without(LockNames{"v0", "local", "atomic", "optimistic", "non-idempotent"}, "there is no lock in Redis", "Redis 里没有锁")
}
func neverExpires() Expectation {
	return without(LockNames{"v1"}, "its lock never expires: the other waits", "它的锁永不过期：另一单会等待")
}
func notBehindProxy() Expectation {
	return without(LockNames{"redlock"}, "its nodes are not behind the proxy", "它的节点不经过代理")
}

// in returns the expectation with the explorer's scenario that shows it.
func (e Expectation) in(scenario string) Expectation {
	e.In = scenario
	return e
}

// isOf reports whether the expectation is about a lock.
func (e Expectation) isOf(lock string) bool { return slices.Contains(e.Locks, lock) }

// step returns the number of a step of the evolution: 2 for v2. It is -1 for other locks.
func step(lock string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(lock, "v"))
	if err != nil {
		return -1
	}
	return n
}
