package steps

import (
	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
)

// pointFor returns the measuring point of a metric with this many buyers and processes.
func pointFor(metric evolution.Metric, buyers, processes int) evolution.Point {
	return evolution.Point{Metric: metric, Condition: evolution.Condition{Buyers: buyers, Processes: processes}}
}

// table returns the steps without what describe adds: the texts about each lock are in internal/evolution, and the reasons why a lab shows
// the step are in internal/lab. A demonstration without a lock runs under From, and is compared with the same schedule under To. Tests
// check that a schedule with an anomaly is the shortest that lockstep explore finds, and that NewParts and DroppedParts agree with the
// code of internal/lock.
func table() []Step {
	return []Step{
		{From: "v0", To: "v1", Lab: "lost-update", Exercise: "14-get-then-set", NewParts: []string{"poll.go"}, Demonstration: Demonstration{
			Schedule: "A:GET B:GET A:write B:write", Anomaly: anomaly.LostUpdate,
		}},
		{From: "v1", To: "v2", Lab: "holder-dies", Exercise: "01-expiry", Demonstration: Demonstration{
			Scenario: "--faults crash=1", Schedule: "A:SET/dies-after B:SET B:SET", Anomaly: anomaly.LeftBehind, //nolint:dupword // a schedule
		}},
		{From: "v2", To: "v3", Lab: "foreign-delete", Exercise: "02-foreign-delete", Demonstration: Demonstration{
			Scenario: "--faults expiry=1", Schedule: "A:SET A:GET A:write expiry B:SET A:DEL", Anomaly: anomaly.ForeignRelease,
		}},
		{From: "v3", To: "v4", Lab: "check-then-delete", Exercise: "03-check-then-delete", Demonstration: Demonstration{
			Scenario: "--faults expiry=1", Schedule: "A:SET A:GET A:write A:GET expiry B:SET A:DEL", Anomaly: anomaly.ForeignRelease,
		}},
		{From: "v4", To: "v5", Lab: "self-deadlock", Exercise: "05-nested", Demonstration: Demonstration{
			Scenario: "--nested 1", Schedule: "A:SET A:GET A:SET B:SET", Anomaly: anomaly.SelfDeadlock,
		}},
		{From: "v5", To: "v6", Lab: "overdue-work", Exercise: "07-endless-renewal", NewParts: []string{"renew.go", "renewals.go"},
			Demonstration: Demonstration{Scenario: "--faults expiry=1", Schedule: "A:lock expiry B:lock", Anomaly: anomaly.TwoHolders}},
		{From: "v6", To: "v7", Lab: "paused-writer", Exercise: "10-fence", Demonstration: Demonstration{
			Scenario: "--faults expiry=1,pause=1",
			Schedule: "A:begins A:lock A:GET expiry B:begins B:lock B:GET A:write B:write", Anomaly: anomaly.LostUpdate,
		}},
		{From: "v7", To: "v8", Lab: "starvation", Exercise: "15-starvation", NewParts: []string{"queue.go"},
			KeyPoint: pointFor(evolution.Wait, 16, 1), Demonstration: Demonstration{
				Scenario: "--sales 3 --replicas 1",
				Schedule: "A:begins A:lockFenced A:readFenced A:write B:begins B:lockFenced A:unlock A:lockFenced A:readFenced A:write A:unlock " +
					"A:lockFenced", Anomaly: anomaly.Starved,
			}},
		{From: "v8", To: "v9", NewParts: []string{"cohort.go"}, DroppedParts: []string{"renewals.go"},
			KeyPoint: pointFor(evolution.Share, 200, 1), Demonstration: Demonstration{
				Scenario: "--replicas 1",
				Schedule: "A:begins A:lockFenced A:readFenced B:waits A:write A:unlock B:lockFenced B:readFenced B:write B:unlock",
			}},
		{From: "v9", To: "v10", Lab: "starvation-replicas", Exercise: "09-missed-wakeup",
			NewParts: []string{"inbox.go"}, DroppedParts: []string{"poll.go"},
			KeyPoint: pointFor(evolution.Wait, 16, 3), Demonstration: Demonstration{
				Scenario: "--actors 4",
				Schedule: "A:lockFenced A:readFenced A:write B:lockFenced A:unlock C:lockFenced C:readFenced C:write C:unlock D:lockFenced",
				Anomaly:  anomaly.Starved,
			}},
		{From: "v10", To: "v11", Exercise: "16-kept-lock", KeyPoint: pointFor(evolution.Share, 1, 1), Demonstration: Demonstration{
			Scenario: "--actors 1 --sales 2",
			Schedule: "A:acquire A:readFenced A:write A:release A:acquire A:readFenced A:write A:release",
		}},
		{From: "v4", To: "delex", Demonstration: Demonstration{
			Lock: "delex", Scenario: "--faults expiry=1", Schedule: "A:SET A:GET A:write expiry B:SET A:DELEX",
		}},
		{From: "v9", To: "redlock", Lab: "slow-node", Exercise: "11-majority", NewParts: []string{"quorum/quorum.go"},
			KeyPoint: pointFor(evolution.Commands, 1, 1), Demonstration: Demonstration{
				Lock: "redlock", Scenario: "--try 2 --faults node-hang=1",
				Schedule: "A:waits A.node1:SET/node-hangs A.node2:SET A.node3:SET",
			}},
		{From: "setnx-expire", To: "lua-setnx", Lab: "dies-between-set-and-expire", Exercise: "01-expiry", Demonstration: Demonstration{
			Scenario: "--faults crash=1", Schedule: "A:SET/dies-after B:SET B:SET", Anomaly: anomaly.LeftBehind, //nolint:dupword // a schedule
		}},
	}
}
