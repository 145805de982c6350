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
	Locks    LockNames       // locks that the expectation is about
	Verdict  verdict.Verdict // expected verdict; NA: the lab does not apply to these locks
	Why      language.Text   // reason for the expectation
	Scenario string          // scenario of explore --all that shows the outcome; empty: all scenarios are searched
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
		if stepNumber(name) >= first {
			names = append(names, name)
		}
	}
	return names
}

// with returns the list with more names.
func (n LockNames) with(more ...string) LockNames { return append(slices.Clip(n), more...) }

// nonExcluding returns the strategies that do not keep other processes out of the critical section.
func nonExcluding() LockNames {
	return LockNames{"v0", "local", "atomic", "optimistic", "non-idempotent", "set-expire", "setex"}
}

// expectBroken expects that the lab shows its anomaly.
func expectBroken(locks LockNames, english, chinese string) Expectation {
	return Expectation{Locks: locks, Verdict: verdict.Broken, Why: language.Both(english, chinese)}
}

// expectHolds expects that the locks keep what the lab's claim promises.
func expectHolds(locks LockNames, english, chinese string) Expectation {
	return Expectation{Locks: locks, Verdict: verdict.Holds, Why: language.Both(english, chinese)}
}

// notApplicable is the expectation of locks to which the lab does not apply.
func notApplicable(locks LockNames, english, chinese string) Expectation {
	return Expectation{Locks: locks, Verdict: verdict.NA, Why: language.Both(english, chinese)}
}

// Expectations that several labs share. In each, the lab does not apply, for the reason that the function's name gives.

func nobodyHolds() Expectation {
	return notApplicable(nonExcluding(), "no lock excludes others", "没有互斥的锁")
}
func nobodyWaits() Expectation {
	return notApplicable(nonExcluding(), "nobody waits for another process", "没有人等待别的进程")
}
func nothingToWaitFor() Expectation {
	return notApplicable(nonExcluding(), "there is no lock that the other would wait for", "没有让另一单等待的锁")
}
func excludesNobody() Expectation {
	return notApplicable(nonExcluding(), "it keeps no other process out", "它拦不住别的进程")
}
func notInRedis() Expectation {
	return notApplicable(LockNames{"v0", "local", "atomic", "optimistic", "non-idempotent"}, "there is no lock in Redis", "Redis 里没有锁")
}
func neverExpires() Expectation {
	return notApplicable(LockNames{"v1"}, "its lock never expires: the other waits", "它的锁永不过期：另一单会等待")
}
func notBehindProxy() Expectation {
	return notApplicable(LockNames{"redlock"}, "its nodes are not behind the proxy", "它的节点不经过代理")
}

// withScenario returns the expectation with the name of the explorer's scenario that shows the outcome.
func (e Expectation) withScenario(scenario string) Expectation {
	e.Scenario = scenario
	return e
}

// isAbout reports whether the expectation is about a lock.
func (e Expectation) isAbout(lock string) bool { return slices.Contains(e.Locks, lock) }

// stepNumber returns the number of a step of the evolution: 2 for v2. It returns -1 for other locks.
func stepNumber(lock string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(lock, "v"))
	if err != nil {
		return -1
	}
	return n
}
