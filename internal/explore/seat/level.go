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
	Anomaly      explore.Anomaly `json:"anomaly"` // anomaly to show; "": the lock shows none in the table
	Scenario     string          `json:"in"`      // scenario of the task, as flags of lockstep explore
	Steps        int             `json:"steps"`   // length of the shortest schedule
	NextPrevents bool            `json:"stopped"` // the next lock prevents the anomaly in the same schedule
	Advice       string          `json:"advice"`  // events that must happen, for a reader who has failed; "": none
	Cause        string          `json:"cause"`   // property that the lock lacks, for a reader who has solved the level; "": none
}

// levelOf returns the level of a lock; nil if its row of the table is not known yet.
func (s *Seat) levelOf(lock string, in language.Language) *Level {
	row, ok := s.rows.Get(lock)
	if !ok {
		return nil
	}
	stopped := slices.Contains(strings.Fields("v0 v1 v2 v3 v4 v5 v6"), lock) // from v7 on, the next lock has the same flaw
	level := Level{NextPrevents: stopped, Advice: adviceFor(lock).In(in), Cause: causeFor(lock).In(in)}
	for _, cell := range row.Cells {
		shown := explore.Anomaly(cell.Anomaly)
		if cell.Answer == "broken" && (level.Steps == 0 || shown == firstAnomaly(lock)) {
			level.Anomaly, level.Steps = shown, cell.Steps
			level.Scenario, _ = cell.scenarioAndSchedule()
		}
	}
	// In the table, v9's shortest schedule is the same as v7's. In a failover two holders get the same token, so that fencing does not help.
	if lock == "v9" {
		level.Anomaly, level.Scenario, level.Steps = anomaly.LostUpdate, "--faults failover=1", 7
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
	case "v7":
		return both("The holder has to pause until its lock has expired and the other sale has taken it.", "持有者要一直暂停，直到锁过期、另一单加锁成功。")
	case "v10":
		return both("The holder has to pause; the other sale has to queue, and to ask until the lock has expired and it is its turn.",
			"持有者要一直暂停；另一单要排队，反复来问，直到锁过期、轮到它。")
	case "v11":
		return both("The other sale has to ask for the lock while its keeper is paused, until the lock has expired and changed hands.",
			"另一单要来要锁；缓存着锁的持有者要一直暂停，听不到请求，直到锁过期、另一单加锁成功。")
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

// causeFor returns what a lock lacks, so that its level can be solved.
func causeFor(lock string) language.Text {
	both := language.Both
	switch lock {
	case "v0":
		return both("Nothing keeps the other sale out between the read and the write.", "读库存和写库存之间，没有什么能挡住另一单。")
	case "v1":
		return both("v1’s key never expires, and only its holder removes it.", "v1 的键永不过期，只有持有者会删除它。")
	case "v2":
		return both("v2’s DEL does not look whose lock it removes.", "v2 的 DEL 不看删除的是谁的锁。")
	case "v3":
		return both("v3 looks and deletes in two commands. Between them the lock can change hands.", "v3 用两条命令检查和删除，中间锁可能易主。")
	case "v4":
		return both("v4 does not count nested calls: the sale waits for a lock that is its own.", "v4 不支持嵌套调用：这一单等的是自己持有的锁。")
	case "v5":
		return both("v5 does not renew its lock, so work that takes longer outlives it.", "v5 不续期：业务耗时超过过期时间，锁就先没了。")
	case "v6":
		return both("Under v6 the store does not look at the lock: who has not heard of its loss yet still writes.",
			"v6 的存储不检查锁：持有者还不知道锁已丢失，照样能写入。")
	case "v7":
		return both("A paused process cannot renew v7’s lock, and does not know that it has expired. Only the store can refuse what it writes.",
			"进程暂停就无法给 v7 的锁续期，也不知道锁已过期。只有存储能拒绝它的写入。")
	case "v8":
		return both("A lock command may arrive after its sender has given up. Then v8 has a lock that nobody will unlock.",
			"加锁命令可能在发送者放弃之后才到达。这时 v8 的锁没有人会释放。")
	case "v9":
		return both("The new master knows neither v9’s lock nor its last token, and grants both a second time.",
			"新的主节点既不知道 v9 的锁，也不知道最后一个令牌，于是都又发了一次。")
	case "v10":
		return both("v10’s queue gives the turn to the next once the lock has expired. A holder that was paused goes on all the same.",
			"锁一过期，v10 的队列就轮到下一个；暂停过的持有者恢复后照样继续。")
	case "v11":
		return both("v11’s keeper is asked for the lock, and a paused one cannot hear. It goes on after the lock has expired.",
			"v11 要向缓存着锁的持有者要锁，暂停的持有者听不到；锁过期后，它恢复了照样继续。")
	default:
		return language.Text{}
	}
}
