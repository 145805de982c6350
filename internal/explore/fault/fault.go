// Package fault is the catalogue of faults that may happen in a schedule: their names and descriptions, which explorer can inject them,
// and budgets of how often they may happen.
//
// Begin with Row and Budget.
package fault

import "lockstep/internal/language"

// Fault is a kind of fault.
type Fault uint8

// The faults, which catalogue describes. None is the absence of a fault.
const (
	None        Fault = iota
	Expiry            // time passes the expiry of a key early
	Slow              // time passes to the next timer early
	Pause             // a process stops for a while
	Crash             // a process dies
	LostReply         // a command takes effect, and its reply is lost
	Cancel            // a client goes away
	LostWake          // a message to a waiter is lost
	Failover          // Redis loses recent changes of the lock
	Rollback          // Redis loses recent changes of everything
	Evict             // Redis removes the lock
	Late              // a command takes effect late
	Resend            // a client sends a command twice
	LostRequest       // a command never takes effect
	Timeout           // the wait for a lock times out
	ClockJump         // the clock of a process jumps ahead
	RedisClock        // the clock of a Redis jumps ahead
	NodeCrash         // a master refuses connections
	NodeHang          // a master does not answer
	NodeRestart       // a master restarts empty
	faultCount        // number of faults, None included
)

// Row describes a fault.
type Row struct {
	ID              Fault         // set by All
	Name            string        // notation in budgets, such as lost-reply
	Title           language.Text // few words for readers
	Description     language.Text // effect in the explorer, as a clause of a sentence
	InBubble        string        // effect on code in a bubble; "": only the explorer can inject it
	OnNode          bool          // the fault strikes one of several masters
	BreaksEveryLock bool          // the fault breaks every lock that expires, or every lock on one Redis; the table of all locks omits it
}

// catalogue returns the rows of all faults, by Fault, without their ids.
func catalogue() [faultCount]Row {
	both := language.Both
	return [faultCount]Row{
		Expiry: {Name: "expiry", Title: both("expiry", "过期"),
			Description: both("time passes a key's expiry while an actor could still move: slow work or network",
				"还有参与方可以继续时，时间就越过了某个键的过期时刻：业务或网络慢")},
		Slow: {Name: "slow", Title: both("slow", "变慢"),
			Description: both("time passes to the next timer, such as a renewal's, while an actor could still move",
				"还有参与方可以继续时，时间就走到了下一个定时器（例如续期）"),
			InBubble: "time passes to the next timer or expiry, although an actor could still move"},
		Pause: {Name: "pause", Title: both("pause", "暂停"),
			Description: both("a process stops before a command or before it has read the reply; later it resumes",
				"进程在发出命令之前或读到响应之前暂停，以后恢复"),
			InBubble: "a process that has the lock stops: nothing that it sends arrives any more, and it believes that it has the lock"},
		Crash: {Name: "crash", Title: both("crash", "崩溃"),
			Description: both("a process dies, before or after a command took effect", "进程在命令生效之前或之后崩溃"),
			InBubble:    "a process dies: nothing that it sends arrives any more"},
		LostReply: {Name: "lost-reply", Title: both("lost reply", "响应丢失"),
			Description: both("a command takes effect, and its sender gets an error instead of the reply", "命令已生效，发送方收到的却是错误，不是响应"),
			InBubble:    "a command takes effect, and the connection ends before the reply has come"},
		Cancel: {Name: "cancel", Title: both("cancel", "取消"),
			Description: both("a client goes away: the context of its request is cancelled", "客户端断开：请求的 context 被取消"),
			InBubble:    "the context that a call was given is cancelled"},
		LostWake: {Name: "lost-wake", Title: both("lost wake", "唤醒丢失"),
			Description: both("a message that should wake a waiter never arrives", "唤醒等待者的消息丢失")},
		Failover: {Name: "failover", Title: both("failover", "主从切换"), BreaksEveryLock: true,
			Description: both("Redis fails over to a replica without the lock's last changes; the stock is kept",
				"Redis 主从切换，从节点没有锁的最新改动；库存不丢")},
		Rollback: {Name: "rollback", Title: both("rollback", "回滚"), BreaksEveryLock: true,
			Description: both("Redis restarts with an older snapshot: what was written since is gone, sales too",
				"Redis 重启后回到较早的快照：之后写入的都丢失，包括订单")},
		Evict: {Name: "evict", Title: both("evict", "淘汰"), BreaksEveryLock: true,
			Description: both("Redis is out of memory, and evicts the lock, as it has an expiry", "Redis 内存不足，淘汰了带过期时间的锁")},
		Late: {Name: "late", Title: both("late", "命令迟到"),
			Description: both("a command takes effect at any later time, and its sender gets an error at once", "命令在以后任意时刻才生效，发送方当场收到错误"),
			InBubble:    "a command takes effect after its client has closed the connection"},
		Resend: {Name: "resend", Title: both("resend", "重发"),
			Description: both("a command takes effect, its reply is lost, and the client sends it again by itself", "命令已生效，响应丢失，客户端自动重发")},
		LostRequest: {Name: "lost-request", Title: both("lost request", "请求丢失"),
			Description: both("a command never takes effect, and its sender gets an error", "命令永远不生效，发送方收到错误"),
			InBubble:    "the connection ends, and the command never takes effect"},
		Timeout: {Name: "timeout", Title: both("timeout", "等锁超时"),
			Description: both("the wait for a lock times out; without this fault it never does", "等锁超时；不加这个故障就从不超时")},
		ClockJump: {Name: "clock-jump", Title: both("clock jump", "时钟跳变"),
			Description: both("the clock of a process jumps ahead by 15 s; its timers do not", "一个进程的时钟向前跳 15 秒，它的定时器不受影响")},
		RedisClock: {Name: "redis-clock", Title: both("redis clock", "Redis 时钟跳变"), BreaksEveryLock: true,
			Description: both("the clock of the Redis with the lock, or of a master, jumps ahead by 15 s",
				"锁所在的 Redis（或某个主节点）的时钟向前跳 15 秒")},
		NodeCrash: {Name: "node-crash", Title: both("node crash", "节点宕机"), OnNode: true,
			Description: both("one of the lock's masters refuses connections from then on", "锁的一个主节点从此拒绝连接")},
		NodeHang: {Name: "node-hang", Title: both("node hang", "节点卡住"), OnNode: true,
			Description: both("one of the lock's masters executes commands from then on, but never answers", "锁的一个主节点从此只执行命令，不再响应")},
		NodeRestart: {Name: "node-restart", Title: both("node restart", "节点重启"), OnNode: true,
			Description: both("one of the lock's masters restarts empty", "锁的一个主节点重启后数据为空"),
			InBubble:    "a node restarts empty"},
	}
}

// All returns the rows of all faults. The explorer can inject each of them.
func All() []Row {
	rows := catalogue()
	for id := range rows {
		rows[id].ID = Fault(id) //nolint:gosec // fits: few values
	}
	return rows[Expiry:]
}

// BubbleFaults lists the faults that can be injected into code in a bubble.
func BubbleFaults() []Fault {
	return []Fault{Slow, LostReply, LostRequest, Late, Cancel, NodeRestart, Crash, Pause}
}

// Names lists the names of all faults.
func Names() (names []string) {
	for _, row := range All() {
		names = append(names, row.Name)
	}
	return names
}

// ByName returns the fault with this name; None if there is none.
func ByName(name string) Fault {
	for _, row := range All() {
		if row.Name == name {
			return row.ID
		}
	}
	return None
}

// Row returns the row of the fault, without its id.
func (f Fault) Row() Row { return catalogue()[f] }

// String returns the name of the fault; "" for None.
func (f Fault) String() string { return f.Row().Name }
