// Package anomaly has the catalogue of what can go wrong with a lock: ids, titles, descriptions, and the parts of lockstep that show each
// anomaly. Findings of the witness, locktest, redistest, labs, exercises and steps refer to the ids.
package anomaly

import (
	"slices"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/strategy"
)

// Anomaly is the id of one kind of fault in a lock, as commands and JSON spell it.
type Anomaly string

// The anomalies, in the order in which the explorer looks for them. Catalogue describes each.
const (
	TwoHolders     Anomaly = "two-holders"
	LostUpdate     Anomaly = "lost-update"
	DoubleSale     Anomaly = "double-sale"     // one order is sold more than once
	ForeignRelease Anomaly = "foreign-release" // a sale removes, overwrites or extends another sale's lock
	LeftBehind     Anomaly = "left-behind"     // a lock stays forever that no sale holds
	Stuck          Anomaly = "stuck"           // a sale can never go on
	SelfDeadlock   Anomaly = "self-deadlock"   // a sale waits for a lock that it holds itself
	Untold         Anomaly = "untold"          // a sale has lost its lock, and does not learn of that
	GoroutineLeak  Anomaly = "goroutine-leak"
	FalseWord      Anomaly = "false-word"  // Unlock or an error reports something untrue
	TokenOrder     Anomaly = "token-order" // a later fencing token is not larger
	Progress       Anomaly = "progress"    // a sale fails without a fault
	Idle           Anomaly = "idle"        // nobody holds the lock, and waiters sleep
	Starved        Anomaly = "starved"     // a sale is overtaken too often

	// Anomalies that only other parts of lockstep look for; see Row.Parts.
	Busy         Anomaly = "busy"         // a process sends commands without a pause
	Unattributed Anomaly = "unattributed" // a lock is changed so that its value does not show whose it is
	Polling      Anomaly = "polling"      // a waiter polls Redis
	Unanswered   Anomaly = "unanswered"   // Redis does not reply to a command
	Price        Anomaly = "price"        // cost of a lock in commands, round trips or requirements
)

// All returns the anomalies that the explorer looks for.
func All() []Anomaly {
	return []Anomaly{
		TwoHolders, LostUpdate, DoubleSale, ForeignRelease, LeftBehind, Stuck, SelfDeadlock, Untold, GoroutineLeak, FalseWord, TokenOrder,
		Progress, Idle, Starved,
	}
}

// Row is the catalogue's entry for an anomaly.
type Row struct {
	ID         Anomaly
	Title      language.Text // name in a few words
	Parts      string        // parts of lockstep that show it, separated by blanks: explorer, witness, locktest, lesson, …
	Labs       string        // names of the labs that show it, separated by blanks
	Flaws      string        // ids of strategies' flaws that are this anomaly, for flaws without a lab of the same name
	Says, Task language.Text // sentence about what goes wrong; task of a level, which follows "make v3"
	InTest     string        // its definition in locktest and redistest, which know only the key of the lock; empty: they do not look for it
}

// Catalogue returns a row for each anomaly.
func Catalogue() []Row {
	both := language.Both
	return []Row{
		{TwoHolders, both("two holders", "两个持有者"), "explorer witness locktest exercise lesson",
			"overdue-work clock-skew redis-clock empty-restarted-node failover scheduled-job stampede job-overruns",
			"clocks no-exclusion paused-holder",
			both("two sales believe at the same time that they hold the lock", "两单同时认为自己持有锁"), both("let two in at the same time", "让两单同时进入临界区"),
			"two actors may believe at the same time that they hold the lock, by all that the library has told them"},
		{LostUpdate, both("lost update", "丢失更新"), "explorer witness exercise lesson",
			"lost-update lost-update-replicas overdue-work paused-writer commit-after-unlock partition stopped-process older-snapshot " +
				"eviction", "no-fence",
			both("a sale writes over the update of another sale", "一单覆盖了另一单的更新"), both("lose an update of the stock", "丢失一次库存更新"), ""},
		{DoubleSale, both("double sale", "重复售出"), "explorer witness exercise", "resent-command repeated-order", "",
			both("one order is sold more than once", "同一个订单卖出不止一次"), both("sell one order twice", "把同一个订单卖出两次"), ""},
		{ForeignRelease, both("foreign release", "误删别人的锁"), "explorer witness locktest exercise lesson",
			"foreign-delete check-then-delete", "no-owner",
			both("a sale removes, overwrites or extends a lock that another sale holds", "一单删除、覆盖或续期了另一单持有的锁"),
			both("remove another’s lock", "删掉别人的锁"),
			"a process removes or overwrites a lock that an actor of another process holds"},
		{LeftBehind, both("lock left behind", "锁残留"), "explorer witness locktest exercise lesson",
			"holder-dies dies-between-set-and-expire lost-reply cancelled-request late-command redis-gone resent-command job-holder-dies", "",
			both("a lock stays forever, although no sale holds it", "没有一单持有锁，锁却永远残留"), both("leave a lock behind forever", "留下一把永远没人清除的锁"),
			"a lock stays until it expires, or forever: its actor was told that it has no lock, or that it has released it; " +
				"or its process has crashed, and nobody gets the lock any more"},
		{Stuck, both("stuck forever", "卡死"), "explorer witness locktest redistest exercise",
			"self-deadlock missed-wake-up dead-waiter holder-dies dies-between-set-and-expire lost-reply late-command redis-gone " +
				"resent-command job-holder-dies", "",
			both("a sale can never go on", "一单再也无法继续"), both("block a sale forever", "卡死一单"),
			"a call does not come back within ten minutes, although nobody holds the lock and nothing is on its way"},
		{ID: Busy, Title: both("busy", "不停发命令"), Parts: "locktest redistest",
			InTest: "a process sends 20 commands or more, one after the other, and no time passes"},
		{SelfDeadlock, both("waits for itself", "自死锁"), "explorer witness lesson", "self-deadlock", "",
			both("a sale waits for a lock that it holds itself, until the lock expires", "一单在等自己持有的锁，直到锁过期"),
			both("make a sale wait for itself", "自死锁"), ""},
		{Untold, both("loss untold", "锁丢失而未感知"), "explorer exercise", "renewal-outage redis-pause", "",
			both("a sale has lost the lock and works on, and nothing tells it", "一单的锁丢失后还在继续执行，自己并不知情"),
			both("lose the lock without telling its holder", "锁丢失却不告诉持有者"), ""},
		{GoroutineLeak, both("goroutine leak", "goroutine 泄漏"), "explorer witness locktest redistest exercise",
			"goroutine-leak endless-renewal", "",
			both("a goroutine still runs after its sale has ended", "一单已经结束，它的 goroutine 还在运行"), both("leak a goroutine", "泄漏一个 goroutine"),
			"a goroutine is left when all calls have come back and all clients are closed"},
		{FalseWord, both("false word", "结果不实"), "explorer exercise", "false-word", "",
			both("Unlock or an error reports something untrue", "解锁结果或错误信息与事实不符"), both("report something untrue", "报告不实的结果"), ""},
		{TokenOrder, both("tokens out of order", "令牌乱序"), "explorer locktest exercise", "token-order", "",
			both("a later holder's fencing token is not larger, or a nested call has another token", "后一个持有者的栅栏令牌没有增大，或嵌套调用的令牌与外层不同"),
			both("give tokens out of order", "发出乱序的令牌"), "a holder's fencing token is not larger than an earlier holder's"},
		{Progress, both("failed without a fault", "无故失败"), "explorer exercise", "progress", "",
			both("a sale fails although nothing went wrong", "没出任何故障，一单却失败了"), both("fail a sale although nothing went wrong", "没出故障却让一单失败"), ""},
		{Idle, both("lock idle", "锁闲置"), "explorer witness exercise", "idle lost-reply resent-command missed-wake-up dead-waiter", "keeper-dies",
			both("no live sale holds the lock, yet waiters sleep a quarter of its expiry or longer",
				"没有存活的一单持有锁，等待者却休眠了过期时间的四分之一以上"),
			both("leave everybody waiting for time", "使所有人只能等锁过期"), ""},
		{Starved, both("starvation", "饥饿"), "explorer witness exercise lesson", "starvation starvation-replicas", "no-order",
			both("a sale is overtaken too often by sales that asked after it", "一单被后来的请求插队太多次"),
			both("starve a sale", "饿死一单"), ""},
		{ID: Unattributed, Title: both("whose lock it is cannot be told", "无法判断锁归谁"), Parts: "locktest",
			InTest: "a process changes a lock that another holds so that no value says whose it is: that may be right or wrong"},
		{ID: Polling, Title: both("polling", "轮询"), Parts: "witness", Labs: "polling-storm", Flaws: "polling"},
		{ID: Unanswered, Title: both("no reply from Redis", "Redis 没有响应"), Parts: "witness", Labs: "slow-node"},
		{ID: Price, Title: both("price", "代价"), Parts: "benchmark", Flaws: "own-commands round-trips retries one-script older-servers"},
	}
}

// ShownBy returns the anomalies that a part of lockstep shows. part is a name in Row.Parts.
func ShownBy(part string) (all []Anomaly) {
	for _, row := range Catalogue() {
		if slices.Contains(strings.Fields(row.Parts), part) {
			all = append(all, row.ID)
		}
	}
	return all
}

// Row returns the anomaly's entry in the catalogue; the zero Row for an unknown anomaly.
func (a Anomaly) Row() Row {
	for _, row := range Catalogue() {
		if row.ID == a {
			return row
		}
	}
	return Row{}
}

// IsPromisedBy reports whether a strategy promises that the anomaly does not happen. A strategy without a lock does not exclude anybody,
// and only a lock in Redis can be lost. The segmented strategy does not exclude sales in other segments; its locks promise what v11 does.
func (a Anomaly) IsPromisedBy(s strategy.Strategy) bool {
	if s.Update == strategy.Segmented {
		s.Scope, s.Capabilities.InOrder = strategy.Nobody, false
	}
	switch a {
	case LostUpdate, DoubleSale, Stuck, SelfDeadlock, GoroutineLeak, Progress:
		return true
	case Starved:
		return s.Capabilities.InOrder
	case TwoHolders:
		return s.Scope != strategy.Nobody
	default:
		return s.Scope == strategy.Everybody
	}
}

// IsOnRequest reports whether the explorer looks for the anomaly only if it is asked to by name.
func (a Anomaly) IsOnRequest() bool { return a == Starved }
