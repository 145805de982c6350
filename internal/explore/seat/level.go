package seat

import (
	"slices"
	"strings"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// firstAnomaly returns the anomaly to try first with a lock.
func firstAnomaly(lock string) explore.Anomaly {
	switch lock {
	case "v0", "v6", "v7", "v9", "atomic", "optimistic", "segmented", "late-commit":
		return anomaly.LostUpdate
	case "non-idempotent":
		return anomaly.DoubleSale
	case "v1":
		return anomaly.Stuck
	case "v4", "delex":
		return anomaly.SelfDeadlock
	case "v2", "v3":
		return anomaly.ForeignRelease
	case "setnx-expire":
		return anomaly.LeftBehind
	case "v8":
		return anomaly.Idle
	default:
		return anomaly.TwoHolders
	}
}

// Level is the task to break a lock in as few steps as possible, in a scenario of the table or, for v9, in one of its own.
type Level struct {
	Anomaly      explore.Anomaly `json:"anomaly"`     // anomaly to show; "": the lock shows none in the table
	Scenario     string          `json:"in"`          // scenario of the task, as flags of lockstep explore
	Steps        int             `json:"steps"`       // length of the shortest schedule
	KeepsStock   bool            `json:"keeps_stock"` // the lock shows neither a lost update nor a double sale
	NextPrevents bool            `json:"stopped"`     // the next lock prevents the anomaly in the same schedule
	Advice       string          `json:"advice"`      // events that must happen, for a reader who has failed; "": none
}

// levelOf returns the level of a lock; nil if its row of the table is not known yet.
func (s *Seat) levelOf(lock string, in language.Language) *Level {
	row, ok := s.rows.Get(lock)
	if !ok {
		return nil
	}
	stopped := slices.Contains(strings.Fields("v0 v1 v2 v3 v4 v5 v6"), lock) // from v7 on, the next lock has the same flaw
	level := Level{KeepsStock: true, NextPrevents: stopped, Advice: adviceFor(lock).In(in)}
	for _, cell := range row.Cells {
		shown := explore.Anomaly(cell.Anomaly)
		if shown == anomaly.LostUpdate || shown == anomaly.DoubleSale {
			level.KeepsStock = level.KeepsStock && cell.Answer == "never"
		}
		if cell.Answer == "broken" && (level.Steps == 0 || shown == firstAnomaly(lock)) {
			level.Anomaly, level.Steps = shown, cell.Steps
			level.Scenario, _ = cell.scenarioAndSchedule()
		}
	}
	// In the table, v9's shortest schedule is the same as v7's. In a failover two holders get the same token, so that fencing does not help.
	if lock == "v9" {
		level.Anomaly, level.Scenario, level.Steps, level.KeepsStock = anomaly.LostUpdate, "--faults failover=1", 7, false
	}
	return &level
}

// adviceFor returns the events that must happen in the level of a lock.
func adviceFor(lock string) language.Text {
	both := language.Both
	switch lock {
	case "v0", "local", "late-commit":
		return both("Each sale has to read before the other one writes.", "两单都要赶在对方写入之前读库存。")
	case "v1":
		return both("The holder has to die before it unlocks.", "持有者要在解锁之前崩溃。")
	case "v2":
		return both("The lock has to expire and change hands before its first holder deletes it.", "锁要先过期、换了持有者，原来的持有者才来删除。")
	case "v3":
		return both("The lock has to expire and change hands between its first holder’s check and its DEL.",
			"锁要在原来的持有者检查之后、DEL 之前过期，并换了持有者。")
	case "v5", "lua-setnx":
		return both("The lock has to expire, and the other sale to take it, while the first holder is at work.", "锁要在持有者还在执行时过期，另一单在这期间加锁成功。")
	case "v6":
		return both("The lock has to expire before its holder writes, and each sale has to read before the other one writes.",
			"锁要在持有者写入之前过期，而且两单都要赶在对方写入之前读库存。")
	case "v7", "v10", "v11":
		return both("The holder has to pause until its lock has expired and the other sale has taken it.", "持有者要一直暂停，直到锁过期、另一单加锁成功。")
	case "v8":
		return both("The lock command has to arrive after its sender has given up and unlocked.", "加锁命令要在发送者放弃并解锁之后才到达。")
	case "v9":
		return both("The failover has to lose the lock before its holder writes, and each sale has to read before the other one writes.",
			"主从切换要在持有者写入之前丢掉锁，而且两单都要赶在对方写入之前读库存。")
	case "setnx-expire":
		return both("The holder has to die between the two commands of its lock.", "持有者要在加锁的两条命令之间崩溃。")
	case "non-idempotent":
		return both("The client has to send the command again.", "客户端要把命令重发一次。")
	default:
		return language.Text{}
	}
}
