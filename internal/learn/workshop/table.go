package workshop

import (
	"time"

	"lockstep/internal/explore"
)

// All lists the exercises in order.
func All() []Exercise {
	all := []Exercise{
		{
			Name: "expiry", Reason: explore.LeftBehind,
			Looks: []Look{
				calm(),
				with(explore.Faults{Crash: 1}, usual()...),
				working(8*time.Second, usual()...), // an expiry that is too short
			},
		},
		{
			Name: "foreign-delete", Reason: explore.ForeignRelease,
			Looks: []Look{
				calm(),
				working(15*time.Second, explore.ForeignRelease, explore.FalseWord, explore.LeftBehind, explore.Stuck),
				working(28*time.Second, explore.ForeignRelease), // so that a longer expiry is no way out
				working(55*time.Second, explore.ForeignRelease),
				working(100*time.Second, explore.ForeignRelease),
				with(explore.Faults{Crash: 1}, explore.Stuck, explore.LeftBehind),
			},
		},
		{
			Name: "check-then-delete", Reason: explore.ForeignRelease,
			Looks: []Look{
				calm(),
				with(explore.Faults{Expiry: 1}, explore.ForeignRelease, explore.LeftBehind, explore.Stuck),
				with(explore.Faults{Expiry: 1}, explore.FalseWord),
				with(explore.Faults{Crash: 1}, explore.Stuck, explore.LeftBehind),
			},
		},
		{
			Name: "cancelled-unlock", Reason: explore.Idle,
			Looks: []Look{calm(), with(explore.Faults{Cancel: 1}, usual()...)},
		},
		{
			Name: "nested", Reason: explore.TwoHolders,
			Looks: []Look{
				{explore.Scenario{Actors: 2, Nested: 1}, usual()},
				{explore.Scenario{Actors: 2, Nested: 2}, usual()},
				{
					explore.Scenario{Actors: 2, Nested: 1, Faults: explore.Faults{Crash: 1}},
					[]explore.Anomaly{explore.Stuck, explore.LeftBehind},
				},
			},
		},
		{
			Name: "lost-reply", Reason: explore.Idle,
			Looks: []Look{
				{explore.Scenario{Actors: 2, Nested: 1}, usual()},
				with(explore.Faults{LostReply: 1}, usual()...),
				{explore.Scenario{Actors: 2, Nested: 1, Faults: explore.Faults{LostReply: 1}}, usual()},
			},
		},
		{
			Name: "endless-renewal", Reason: explore.GoroutineLeak,
			Looks: []Look{
				calm(),
				working(12*time.Second, usual()...),
				with(explore.Faults{Cancel: 1}, explore.GoroutineLeak, explore.TwoHolders, explore.Idle, explore.LeftBehind),
			},
		},
		{
			Name: "blind-renewal", Reason: explore.ForeignRelease,
			Looks: []Look{
				calm(),
				{
					explore.Scenario{Actors: 2, Work: 4 * time.Second, Polls: explore.NoPolls, Faults: explore.Faults{Expiry: 1, Slow: 1}},
					[]explore.Anomaly{explore.ForeignRelease, explore.Stuck},
				},
				working(12*time.Second, usual()...),
			},
		},
		{
			Name: "missed-wakeup", Reason: explore.Stuck,
			Looks: []Look{
				calm(),
				{explore.Scenario{Actors: 3}, []explore.Anomaly{explore.Stuck, explore.TwoHolders, explore.GoroutineLeak, explore.Idle}},
			},
		},
		{
			Name: "fence", Reason: explore.ForeignRelease,
			Looks: []Look{
				calm(),
				with(explore.Faults{Expiry: 1}, explore.ForeignRelease, explore.FalseWord, explore.TokenOrder, explore.LostUpdate),
				with(explore.Faults{Pause: 1}, explore.ForeignRelease, explore.LostUpdate, explore.Stuck),
			},
		},
		{
			Name: "majority", Reason: explore.TwoHolders, onNodes: true,
			Looks: []Look{
				{
					explore.Scenario{Actors: 2, Try: 2, Nodes: 3},
					[]explore.Anomaly{explore.TwoHolders, explore.LostUpdate, explore.ForeignRelease, explore.LeftBehind, explore.Stuck},
				},
				{
					explore.Scenario{Actors: 2, Try: 2, Nodes: 3, Faults: explore.Faults{NodeCrash: 1}},
					[]explore.Anomaly{explore.TwoHolders, explore.LostUpdate},
				},
			},
		},
		{
			Name: "token-outside", Reason: explore.TokenOrder,
			Looks: []Look{
				calm(),
				with(explore.Faults{Expiry: 1}, explore.TokenOrder, explore.LostUpdate, explore.ForeignRelease),
				{explore.Scenario{Actors: 2, Skew: 15 * time.Second}, []explore.Anomaly{explore.TokenOrder, explore.Progress}},
			},
		},
		{
			Name: "late-commit", Reason: explore.LostUpdate, anyUpdate: true,
			Looks: []Look{
				calm(),
				{explore.Scenario{Actors: 3}, []explore.Anomaly{explore.TwoHolders, explore.LostUpdate, explore.Progress}},
			},
		},
		{
			Name: "get-then-set", Reason: explore.TwoHolders,
			Looks: []Look{
				calm(),
				with(explore.Faults{Crash: 1}, explore.TwoHolders, explore.Stuck, explore.LeftBehind),
				{explore.Scenario{Actors: 3}, []explore.Anomaly{explore.TwoHolders, explore.LostUpdate}},
			},
		},
	}
	for i := range all {
		all[i].Number = i + 1
		all[i].read()
	}
	return all
}

// usual returns the anomalies that a lock of the exercises has to be free of while nothing goes wrong.
func usual() []explore.Anomaly {
	return []explore.Anomaly{
		explore.TwoHolders, explore.LostUpdate, explore.ForeignRelease, explore.LeftBehind, explore.Stuck,
		explore.GoroutineLeak, explore.FalseWord, explore.TokenOrder, explore.Progress, explore.Idle,
	}
}

// calm is two sales, and nothing that goes wrong.
func calm() Look { return Look{explore.Scenario{Actors: 2}, usual()} }

// with is two sales and one fault; these anomalies may not show.
func with(faults explore.Faults, anomalies ...explore.Anomaly) Look {
	return Look{explore.Scenario{Actors: 2, Faults: faults}, anomalies}
}

// working is two sales that work so long.
func working(work time.Duration, anomalies ...explore.Anomaly) Look {
	return Look{explore.Scenario{Actors: 2, Work: work}, anomalies}
}
