package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/language"
)

// Faults are budgets: how often each fault may happen in one schedule.
type Faults struct {
	Expiry    int
	Slow      int
	Pause     int
	Crash     int
	LostReply int
	Cancel    int
	LostWake  int

	Failover       int
	Rollback       int
	Evict          int
	Late           int
	Resend         int
	LostRequest    int
	Timeout        int
	ClockJump      int
	RedisClockJump int
	SpuriousWake   int
	LateStart      int

	NodeCrash   int
	NodeHang    int
	NodeRestart int
}

// Fault is one thing that may go wrong.
type Fault struct {
	Name   string
	Says   language.Text // what happens, as a part of a sentence
	OnNode bool          // it happens to one of several masters
	Beats  bool          // it breaks every lock that expires, or every one on one Redis: All leaves it out
}

// fault is a Fault with its budget.
type fault struct {
	Fault
	budget *int
}

// table lists all faults. Help, documents and parsing come from it.
func (f *Faults) table() []fault {
	both := language.Both
	return []fault{
		{Fault{"expiry", both("time passes a key's expiry while an actor could still move: slow work or network",
			"还有参与者可以继续时，时间就越过了某个键的过期时刻：业务或网络慢"), false, false}, &f.Expiry},
		{Fault{"slow", both("time passes to the next timer, such as a renewal's, while an actor could still move",
			"还有参与者可以继续时，时间就走到了下一个定时器（例如续期）"), false, false}, &f.Slow},
		{Fault{"pause", both("a process stops before a command or before it has read the reply; later it resumes",
			"进程在发出命令之前或读到响应之前暂停，以后恢复"), false, false}, &f.Pause},
		{Fault{"crash", both("a process dies, before or after a command took effect",
			"进程在命令生效之前或之后崩溃"), false, false}, &f.Crash},
		{Fault{"lost-reply", both("a command takes effect, and its sender gets an error instead of the reply",
			"命令已生效，发送方收到的却是错误，不是响应"), false, false}, &f.LostReply},
		{Fault{"cancel", both("a client goes away: the context of its request is cancelled",
			"客户端断开：请求的 context 被取消"), false, false}, &f.Cancel},
		{Fault{"lost-wake", both("a message that should wake a waiter never arrives",
			"唤醒等待者的消息丢失"), false, false}, &f.LostWake},
		{Fault{"failover", both("Redis fails over to a replica without the lock's last changes; the stock is kept",
			"Redis 主从切换，从节点没有锁的最新改动；库存不丢"), false, true}, &f.Failover},
		{Fault{"rollback", both("Redis restarts with an older snapshot: what was written since is gone, sales too",
			"Redis 重启后回到较早的快照：之后写入的都丢失，包括订单"), false, true}, &f.Rollback},
		{Fault{"evict", both("Redis is out of memory, and evicts the lock, as it has an expiry",
			"Redis 内存不足，淘汰了带过期时间的锁"), false, true}, &f.Evict},
		{Fault{"late", both("a command takes effect at any later time, and its sender gets an error at once",
			"命令在以后任意时刻才生效，发送方当场收到错误"), false, false}, &f.Late},
		{Fault{"resend", both("a command takes effect, its reply is lost, and the client sends it again by itself",
			"命令已生效，响应丢失，客户端自动重发"), false, false}, &f.Resend},
		{Fault{"lost-request", both("a command never takes effect, and its sender gets an error",
			"命令永远不生效，发送方收到错误"), false, false}, &f.LostRequest},
		{Fault{"timeout", both("the wait for a lock times out; without this fault it never does",
			"等锁超时；不加这个故障就从不超时"), false, false}, &f.Timeout},
		{Fault{"clock-jump", both("the clock of a process jumps ahead by 15 s; its timers do not",
			"一个进程的时钟向前跳 15 秒，它的定时器不受影响"), false, false}, &f.ClockJump},
		{Fault{"redis-clock", both("the clock of the Redis with the lock, or of a master, jumps ahead by 15 s",
			"锁所在的 Redis（或某个主节点）的时钟向前跳 15 秒"), false, true}, &f.RedisClockJump},
		{Fault{"spurious-wake", both("a process is told that it may have missed a message, although it has not",
			"进程得知自己可能漏了消息，其实没有漏"), false, false}, &f.SpuriousWake},
		{Fault{"late-start", both("goroutines that a step starts begin only after others have moved, at any time",
			"某一步启动的 goroutine 没有立即开始，各自在以后任意时刻才执行"), false, false}, &f.LateStart},
		{Fault{"node-crash", both("one of the lock's masters refuses connections from then on",
			"锁的一个主节点从此拒绝连接"), true, false}, &f.NodeCrash},
		{Fault{"node-hang", both("one of the lock's masters executes commands from then on, but never answers",
			"锁的一个主节点从此只执行命令，不再响应"), true, false}, &f.NodeHang},
		{Fault{"node-restart", both("one of the lock's masters restarts empty",
			"锁的一个主节点重启后数据为空"), true, false}, &f.NodeRestart},
	}
}

// AllFaults lists the faults there are.
func AllFaults() []Fault {
	var all []Fault
	for _, f := range new(Faults).table() {
		all = append(all, f.Fault)
	}
	return all
}

// FaultNames lists the names of all faults.
func FaultNames() []string {
	var names []string
	for _, f := range AllFaults() {
		names = append(names, f.Name)
	}
	return names
}

// Once returns the budget of one fault, which may happen once.
func Once(name string) Faults {
	var f Faults
	for _, named := range f.table() {
		if named.Name == name {
			*named.budget = 1
		}
	}
	return f
}

// String writes the budgets as "expiry=1,crash=1", and none as "".
func (f Faults) String() string {
	var parts []string
	for _, named := range f.table() {
		if *named.budget > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", named.Name, *named.budget))
		}
	}
	return strings.Join(parts, ",")
}

// Map gives all budgets by name, zeros too.
func (f Faults) Map() map[string]int {
	budgets := map[string]int{}
	for _, named := range f.table() {
		budgets[named.Name] = *named.budget
	}
	return budgets
}

// AtLeast returns the larger budget of each fault.
func (f Faults) AtLeast(others Faults) Faults {
	table := others.table()
	for i, named := range f.table() {
		*named.budget = max(*named.budget, *table[i].budget)
	}
	return f
}

// ParseFaults reads what String writes.
func ParseFaults(text string) (Faults, error) {
	var f Faults
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		if part == "" && text == "" {
			break
		}
		name, number, _ := strings.Cut(part, "=")
		budget, err := strconv.Atoi(number)
		if err != nil || budget < 0 {
			return Faults{}, fmt.Errorf("faults: %q; it takes NAME=TIMES, as in expiry=1,crash=1", part)
		}
		i := slices.Index(FaultNames(), name)
		if i < 0 {
			return Faults{}, fmt.Errorf("faults: there is no %q; there are %s", name, strings.Join(FaultNames(), ", "))
		}
		if given[name] {
			return Faults{}, fmt.Errorf("faults: %s is given twice", name)
		}
		given[name] = true
		*f.table()[i].budget = budget
	}
	return f, nil
}

// OnNodes reports whether any of these happens to one of several masters.
func (f Faults) OnNodes() bool { return f.NodeCrash > 0 || f.NodeHang > 0 || f.NodeRestart > 0 }

// check says which budget is not allowed.
func (f Faults) check() error {
	for _, named := range f.table() {
		if *named.budget < 0 || *named.budget > MaxTimes {
			return fmt.Errorf("faults: %s=%d; it takes 0 to %d times", named.Name, *named.budget, MaxTimes)
		}
	}
	return nil
}
