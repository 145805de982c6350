package steps

// way is a row of the table.
type way struct {
	from, to string
	lab      string
	exercise string
	shown    Shown
}

// table lists the steps. What can be known from elsewhere is not here: what a lock adds is said by internal/lock/evolution, and why a lab
// shows it by internal/stage/lab. Where shown names no lock, the schedule is one of from, to be seen beside the same under to. Schedules
// with an anomaly are the shortest ones of lockstep explore; a test holds them to that.
func table() []way {
	return []way{
		{"v0", "v1", "lost-update", "14-get-then-set", Shown{
			Schedule: "A:GET B:GET A:write B:write", Anomaly: "lost-update",
		}},
		{"v1", "v2", "holder-dies", "01-expiry", Shown{
			Scenario: "--faults crash=1", Schedule: "A:SET/dies-after B:SET B:SET", Anomaly: "left-behind", //nolint:dupword // a schedule
		}},
		{"v2", "v3", "foreign-delete", "02-foreign-delete", Shown{
			Scenario: "--faults expiry=1", Schedule: "A:SET A:GET A:write expiry B:SET A:DEL", Anomaly: "foreign-release",
		}},
		{"v3", "v4", "check-then-delete", "03-check-then-delete", Shown{
			Scenario: "--faults expiry=1", Schedule: "A:SET A:GET A:write A:GET expiry B:SET A:DEL", Anomaly: "foreign-release",
		}},
		{"v4", "v5", "self-deadlock", "05-nested", Shown{
			Scenario: "--nested 1", Schedule: "A:SET A:GET A:SET B:SET", Anomaly: "stuck",
		}},
		{"v5", "v6", "overdue-work", "07-endless-renewal", Shown{
			Scenario: "--faults expiry=1", Schedule: "A:lock expiry B:lock", Anomaly: "two-holders",
		}},
		{"v6", "v7", "paused-writer", "10-fence", Shown{
			Scenario: "--faults expiry=1,pause=1",
			Schedule: "A:begins A:lock A:GET expiry B:begins B:lock B:GET A:write B:write", Anomaly: "lost-update",
		}},
		{"v7", "v8", "starvation", "", Shown{
			Scenario: "--sales 3 --replicas 1",
			Schedule: "A:begins A:lockFenced A:readFenced A:write B:begins B:lockFenced A:unlock A:lockFenced A:readFenced A:write A:unlock " +
				"A:lockFenced", Anomaly: "starved",
		}},
		{"v8", "v9", "starvation-replicas", "09-missed-wakeup", Shown{
			Scenario: "--actors 4",
			Schedule: "A:lockFenced A:readFenced A:write B:lockFenced A:unlock C:lockFenced C:readFenced C:write C:unlock D:lockFenced",
			Anomaly:  "starved",
		}},
		{"v9", "v10", "", "", Shown{
			Scenario: "--actors 1 --sales 2",
			Schedule: "A:acquire A:readFenced A:write A:release A:acquire A:readFenced A:write A:release",
		}},
		{"v8", "redlock", "slow-node", "11-majority", Shown{
			Lock: "redlock", Scenario: "--try 2 --faults node-hang=1",
			Schedule: "A:waits A.node1:SET/node-hangs A.node2:SET A.node3:SET",
		}},
		{"setnx-expire", "lua-setnx", "dies-between-set-and-expire", "01-expiry", Shown{
			Scenario: "--faults crash=1", Schedule: "A:SET/dies-after B:SET B:SET", Anomaly: "left-behind", //nolint:dupword // a schedule
		}},
	}
}
