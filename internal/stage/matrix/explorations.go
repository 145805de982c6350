package matrix

import (
	"lockstep/internal/explore"
	"lockstep/internal/stage/lab"
)

// explorations are the anomalies that no lab shows, with what is expected of each strategy, and why.
func explorations() []exploration {
	return []exploration{redisClock(), idle(), falseWord(), tokenOrder(), leak(), progress()}
}

func redisClock() exploration {
	return exploration{
		anomalyName: "redis-clock", claim: "a clock of Redis that jumps ahead does not give the lock to a second holder",
		anomaly: explore.TwoHolders, in: once("redis-clock=1"),
		expected: []expectation{
			broken("v2 v3 v4 v5 v6 v7 v8 v9 v10 late-commit setnx-expire lua-setnx", "", "the lock expires before its time"),
			broken("redlock", "", "the lock expires on one node before its time, and that node makes a second majority"),
			broken("set-expire setex", "", "everybody gets the lock at any time"),
			without("v1", "its lock never expires"),
			without("getset", "its lock expires by the client's clock: see clock-skew"),
			without("v0 local atomic optimistic", "there is no lock in Redis"),
		},
	}
}

func idle() exploration {
	return exploration{
		anomalyName: "idle", claim: "a lock that no living sale holds does not have to expire before a waiter gets it",
		anomaly: explore.Idle,
		expected: []expectation{
			broken("v2 v5 setnx-expire lua-setnx getset", "lost-reply", "the reply to its SET is lost, and it does not give back what it may have"),
			broken("v3 v4 v6 v7 v8 v9 v10 late-commit", "late", "a command that arrives after its sale has given up is nobody's"),
			unknown("redlock", "its nodes make more schedules than are explored"),
			holds("v1", "its lock never expires: see holder-dies"),
			holds("set-expire setex", "nobody ever waits"),
			without("v0 local atomic optimistic", "there is no lock in Redis"),
		},
	}
}

func falseWord() exploration {
	return exploration{
		anomalyName: "false-word", claim: "Unlock, and every error, says what is so",
		anomaly: explore.FalseWord,
		expected: []expectation{
			broken("v2 v3 setnx-expire lua-setnx", "expiry", "Unlock deletes another's lock, and says that it was its own"),
			broken("getset", "skew", "Unlock deletes another's lock, and says that it was its own"),
			broken("set-expire setex", "lost-reply", "it says that it has no lock, and may have one"),
			broken("redlock", "node-restart", "Unlock says that the lock was its own, and it is another's by then"),
			holds("v1", "its lock is never another's"),
			holds("v4 v5 v6 v7 v8 v9 v10 late-commit", "the script compares and deletes, and says which it was"),
			without("v0 local atomic optimistic", "there is no lock in Redis"),
		},
	}
}

func tokenOrder() exploration {
	return exploration{
		anomalyName: "token-order", claim: "each holder's fencing token is larger than those before it, while Redis forgets nothing",
		anomaly: explore.TokenOrder,
		expected: []expectation{
			holds("v7 v8 v9 v10", "the script that gives the lock also counts"),
			without("v1 v2 v3 v4 v5 v6 redlock late-commit setnx-expire lua-setnx getset set-expire setex", "it has no token"),
			without("v0 local atomic optimistic", "there is no lock in Redis"),
		},
	}
}

func leak() exploration {
	return exploration{
		anomalyName: "goroutine-leak", claim: "no goroutine of a lock outlives its sale",
		anomaly: explore.GoroutineLeak,
		expected: []expectation{
			holds("v6 v7 v8 v9 v10", "Unlock stops the renewal, and waits for its end"),
			holds("v0 v1 v2 v3 v4 v5 local atomic optimistic late-commit setnx-expire lua-setnx getset set-expire setex", "it starts none"),
			unknown("redlock", "its nodes make more schedules than are explored"),
		},
	}
}

func progress() exploration {
	return exploration{
		anomalyName: "progress", claim: "no sale fails where nothing has gone wrong",
		anomaly: explore.Progress,
		expected: []expectation{
			holds("v0 v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 local atomic late-commit setnx-expire lua-setnx getset set-expire setex",
				"only what goes wrong makes it fail"),
			holds("optimistic", "a refused attempt is made again"),
			unknown("redlock", "its nodes make more schedules than are explored"),
		},
	}
}

func broken(locks, in, why string) expectation {
	return expectation{lab.Expectation{Locks: locks, Observed: lab.Broken, Why: why}, in}
}

func holds(locks, why string) expectation {
	return expectation{lab.Expectation{Locks: locks, Observed: lab.Holds, Why: why}, ""}
}

func unknown(locks, why string) expectation {
	return expectation{lab.Expectation{Locks: locks, Observed: lab.Unknown, Why: why}, ""}
}

func without(locks, why string) expectation {
	return expectation{lab.Expectation{Locks: locks, Observed: lab.NA, Why: why}, ""}
}

// once is a scenario with one fault.
func once(fault string) *explore.Scenario {
	faults, err := explore.ParseFaults(fault)
	if err != nil {
		panic(err) // it is one of the above
	}
	return &explore.Scenario{Actors: actors, Faults: faults}
}
