package steps

import (
	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
)

func number(of evolution.Number, buyers, processes int) evolution.Point {
	return evolution.Point{Number: of, Condition: evolution.Condition{Buyers: buyers, Processes: processes}}
}

// table lists the steps. What can be known from elsewhere is not here: what a lock adds is said by internal/evolution, and why a lab
// shows it by internal/lab. Where shown names no lock, the schedule is one of from, to be seen beside the same under to. Schedules
// with an anomaly are the shortest ones of lockstep explore; a test holds them to that. Argues is the number that speaks for the step, or
// against it; none: the share of a buyer alone. What brings and leaves say of internal/lock is held
// to the code by a test, too.
func table() []Step {
	return []Step{
		{From: "v0", To: "v1", Lab: "lost-update", Exercise: "14-get-then-set", Brings: []string{"poll.go"}, Shown: Shown{
			Schedule: "A:GET B:GET A:write B:write", Anomaly: anomaly.LostUpdate,
		}},
		{From: "v1", To: "v2", Lab: "holder-dies", Exercise: "01-expiry", Shown: Shown{
			Scenario: "--faults crash=1", Schedule: "A:SET/dies-after B:SET B:SET", Anomaly: anomaly.LeftBehind, //nolint:dupword // a schedule
		}},
		{From: "v2", To: "v3", Lab: "foreign-delete", Exercise: "02-foreign-delete", Shown: Shown{
			Scenario: "--faults expiry=1", Schedule: "A:SET A:GET A:write expiry B:SET A:DEL", Anomaly: anomaly.ForeignRelease,
		}},
		{From: "v3", To: "v4", Lab: "check-then-delete", Exercise: "03-check-then-delete", Shown: Shown{
			Scenario: "--faults expiry=1", Schedule: "A:SET A:GET A:write A:GET expiry B:SET A:DEL", Anomaly: anomaly.ForeignRelease,
		}},
		{From: "v4", To: "v5", Lab: "self-deadlock", Exercise: "05-nested", Shown: Shown{
			Scenario: "--nested 1", Schedule: "A:SET A:GET A:SET B:SET", Anomaly: anomaly.SelfDeadlock,
		}},
		{From: "v5", To: "v6", Lab: "overdue-work", Exercise: "07-endless-renewal", Brings: []string{"renew.go", "renewals.go"}, Shown: Shown{
			Scenario: "--faults expiry=1", Schedule: "A:lock expiry B:lock", Anomaly: anomaly.TwoHolders,
		}},
		{From: "v6", To: "v7", Lab: "paused-writer", Exercise: "10-fence", Shown: Shown{
			Scenario: "--faults expiry=1,pause=1",
			Schedule: "A:begins A:lock A:GET expiry B:begins B:lock B:GET A:write B:write", Anomaly: anomaly.LostUpdate,
		}},
		{From: "v7", To: "v8", Lab: "starvation", Exercise: "15-starvation", Brings: []string{"queue.go"},
			Argues: number(evolution.Wait, 16, 1), Shown: Shown{
				Scenario: "--sales 3 --replicas 1",
				Schedule: "A:begins A:lockFenced A:readFenced A:write B:begins B:lockFenced A:unlock A:lockFenced A:readFenced A:write A:unlock " +
					"A:lockFenced", Anomaly: anomaly.Starved,
			}},
		{From: "v8", To: "v9", Brings: []string{"cohort.go"}, Leaves: []string{"renewals.go"},
			Argues: number(evolution.Share, 200, 1), Shown: Shown{
				Scenario: "--replicas 1",
				Schedule: "A:begins A:lockFenced A:readFenced B:waits A:write A:unlock B:lockFenced B:readFenced B:write B:unlock",
			}},
		{From: "v9", To: "v10", Lab: "starvation-replicas", Exercise: "09-missed-wakeup",
			Brings: []string{"inbox.go"}, Leaves: []string{"poll.go"},
			Argues: number(evolution.Wait, 16, 3), Shown: Shown{
				Scenario: "--actors 4",
				Schedule: "A:lockFenced A:readFenced A:write B:lockFenced A:unlock C:lockFenced C:readFenced C:write C:unlock D:lockFenced",
				Anomaly:  anomaly.Starved,
			}},
		{From: "v10", To: "v11", Exercise: "16-kept-lock", Argues: number(evolution.Share, 1, 1), Shown: Shown{
			Scenario: "--actors 1 --sales 2",
			Schedule: "A:acquire A:readFenced A:write A:release A:acquire A:readFenced A:write A:release",
		}},
		{From: "v4", To: "delex", Shown: Shown{
			Lock: "delex", Scenario: "--faults expiry=1", Schedule: "A:SET A:GET A:write expiry B:SET A:DELEX",
		}},
		{From: "v9", To: "redlock", Lab: "slow-node", Exercise: "11-majority", Brings: []string{"quorum/quorum.go"},
			Argues: number(evolution.Commands, 1, 1), Shown: Shown{
				Lock: "redlock", Scenario: "--try 2 --faults node-hang=1",
				Schedule: "A:waits A.node1:SET/node-hangs A.node2:SET A.node3:SET",
			}},
		{From: "setnx-expire", To: "lua-setnx", Lab: "dies-between-set-and-expire", Exercise: "01-expiry", Shown: Shown{
			Scenario: "--faults crash=1", Schedule: "A:SET/dies-after B:SET B:SET", Anomaly: anomaly.LeftBehind, //nolint:dupword // a schedule
		}},
	}
}
