package lab

import (
	"strconv"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Expectation is what a lab expects of some locks.
type Expectation struct {
	Locks    string // names with spaces between them; v2..v5 are these steps, v6.. is that one and all later ones
	Observed verdict.Verdict
	Why      language.Text
	In       string // of the explorer: the scenario of explore --all that shows it; empty: it is looked for in all of them
}

// noLock are those that keep no other process out.
const noLock = "v0 local atomic optimistic non-idempotent set-expire setex"

func broken(locks, english, chinese string) Expectation {
	return Expectation{Locks: locks, Observed: verdict.Broken, Why: language.Both(english, chinese)}
}

func expectHolds(locks, english, chinese string) Expectation {
	return Expectation{Locks: locks, Observed: verdict.Holds, Why: language.Both(english, chinese)}
}

// without expects nothing: the lab is not for these locks.
func without(locks, english, chinese string) Expectation {
	return Expectation{Locks: locks, Observed: verdict.NA, Why: language.Both(english, chinese)}
}

// What several labs say in the same words.

func nobodyHolds() Expectation {
	return without(noLock, "there is no lock that one alone holds", "没有互斥的锁")
}
func nobodyWaits() Expectation {
	return without(noLock, "nobody waits for another process", "没有人等待别的进程")
}
func nothingToWaitFor() Expectation {
	return without(noLock, "there is no lock that the other would wait for", "没有让另一单等待的锁")
}
func excludesNobody() Expectation {
	return without(noLock, "it keeps no other process out", "它不阻止别的进程")
}
func notInRedis() Expectation {
	return without("v0 local atomic optimistic non-idempotent", "there is no lock in Redis", "Redis 里没有锁")
}
func neverExpires() Expectation {
	return without("v1", "its lock never expires: the other waits", "它的锁永不过期：另一单会等待")
}
func notBehindProxy() Expectation {
	return without("redlock", "its nodes are not behind the proxy", "它的节点不经过代理")
}

// in gives the expectation with the scenario of the explorer that shows it.
func (e Expectation) in(scenario string) Expectation {
	e.In = scenario
	return e
}

func (e Expectation) isOf(lock string) bool {
	n := step(lock)
	for name := range strings.FieldsSeq(e.Locks) {
		from, to, several := strings.Cut(name, "..")
		if name == lock || several && n >= step(from) && (to == "" || n <= step(to)) {
			return true
		}
	}
	return false
}

// step gives the number of a step of the story; less than 0, if a lock is none.
func step(lock string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(lock, "v"))
	if err != nil {
		return -1
	}
	return n
}
