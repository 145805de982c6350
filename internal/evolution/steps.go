package evolution

import (
	"lockstep/internal/lock"
	"lockstep/internal/lock/contrast"
	"lockstep/internal/lock/delex"
	"lockstep/internal/lock/redlock"
	"lockstep/internal/lockv1"
	"lockstep/internal/lockv10"
	"lockstep/internal/lockv11"
	"lockstep/internal/lockv2"
	"lockstep/internal/lockv3"
	"lockstep/internal/lockv4"
	"lockstep/internal/lockv5"
	"lockstep/internal/lockv6"
	"lockstep/internal/lockv7"
	"lockstep/internal/lockv8"
	"lockstep/internal/lockv9"
	"lockstep/internal/strategy"
)

// Rights that several locks need, as strategy.ParseRights reads them.
const (
	scriptRights = "+set +eval +get +del ~distributedLock"
	hashRights   = "+eval +exists +hexists +hget +hincrby +pexpire +del ~distributedLock"
	fencedRights = hashRights + " +get +set +time ~{distributedLock}:fence"
	queuedRights = fencedRights + " +lindex +lpop +lrem +rpush +publish +subscribe " +
		"~{distributedLock}:queue ~{distributedLock}:queue:* &{distributedLock}:turn:*"
)

// steps returns v0 to v11, each of which removes a flaw or a cost of the one before it, and the branches delex and redlock.
func steps() []strategy.Strategy {
	return []strategy.Strategy{
		{
			Name: "v0", Title: both("no lock", "无锁"),
			Adds:         both("nothing: GET, think, SET", "无：GET → 业务处理 → SET"),
			Costs:        both("nothing", "无"),
			StillBroken:  strategy.Flaws{newFlaw("lost-update", "lost updates, oversell", "丢失更新，超卖")},
			Scope:        strategy.Nobody,
			Capabilities: strategy.Capabilities{Reentrant: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
		},
		{
			Name: "v1", Title: both("SET NX, DEL", "SET NX、DEL"),
			Adds:        both("a key that can be set only while it does not exist; waiters poll every 20 ms", "一个键，不存在时才能设置成功（NX）；等待者每 20 毫秒轮询一次"),
			Costs:       both("2 commands per sale, plus one per poll", "每单 2 条命令，外加每次轮询 1 条"),
			Needs:       strategy.ParseRights("+set +del ~distributedLock"),
			StillBroken: strategy.Flaws{newFlaw("holder-dies", "a holder that dies blocks everybody forever", "持有者崩溃后锁永不释放，其他请求全部死等")},
			New:         func(p strategy.Parts) lock.Locker { return lockv1.New(p.Client, p.Options) },
		},
		{
			Name: "v2", Title: both("with an expiry", "加过期时间"),
			Adds:  both("an expiry, in the same command", "同一条命令里带上过期时间"),
			Costs: both("as v1; an expiry to choose", "同 v1；还要选定过期时间"),
			Needs: strategy.ParseRights("+set +del ~distributedLock"),
			StillBroken: strategy.Flaws{
				newFlaw("foreign-delete", "work longer than the expiry: two holders, and the first deletes the second's lock",
					"业务耗时超过过期时间：出现两个持有者，前一个还会误删后一个的锁"),
			},
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true},
			New:          func(p strategy.Parts) lock.Locker { return lockv2.New(p.Client, p.Options) },
		},
		{
			Name: "v3", Title: both("with an owner", "加持有者标识"),
			Adds:  both("the value is the owner; GET, compare, DEL", "值就是持有者标识；GET、比较、DEL"),
			Costs: both("3 commands per sale, plus one per poll", "每单 3 条命令，外加每次轮询 1 条"),
			Needs: strategy.ParseRights("+set +get +del ~distributedLock"),
			StillBroken: strategy.Flaws{
				newFlaw("check-then-delete", "between the GET and the DEL the lock can change hands",
					"GET 与 DEL 之间，锁可能已经易主"),
			},
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true, ChecksOwner: true, TakesBack: true},
			New:          func(p strategy.Parts) lock.Locker { return lockv3.New(p.Client, p.Options) },
		},
		{
			Name: "v4", Title: both("compare-and-delete in Lua", "Lua 比较并删除"),
			Adds:  both("comparing and deleting in one script", "比较和删除放进一个脚本"),
			Costs: both("2 commands per sale (one is a script), plus one per poll", "每单 2 条命令（其中一条是脚本），外加每次轮询 1 条"),
			Needs: strategy.ParseRights(scriptRights),
			StillBroken: strategy.Flaws{
				newFlaw("self-deadlock", "a nested call waits for its own caller: a self-deadlock until the expiry",
					"嵌套调用等的是自己的外层调用：自死锁，直到锁过期"),
			},
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, TakesBack: true},
			New:          func(p strategy.Parts) lock.Locker { return lockv4.New(p.Client, p.Options) },
		},
		{
			Name: "v5", Title: both("reentrant hash", "可重入（哈希）"),
			Adds:  both("owner and count in a hash: nested calls", "哈希里存持有者标识和重入次数，支持嵌套调用"),
			Costs: both("2 scripts per sale, plus one per poll", "每单 2 个脚本，外加每次轮询 1 个"),
			Needs: strategy.ParseRights(hashRights),
			StillBroken: strategy.Flaws{
				newFlaw("overdue-work", "as from v2 on, work longer than the expiry: two holders",
					"从 v2 起一直如此：业务耗时超过过期时间，就有两个持有者"),
			},
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv5.New(p.Client, p.Options) },
		},
		{
			Name: "v6", Title: both("renewed", "自动续期"),
			Adds:  both("renewal while the work runs; losing the lock ends the context of the work", "业务执行期间自动续期；锁丢失就取消业务的 context"),
			Costs: both("as v5; a goroutine per lock, a script every third of the expiry", "同 v5；每把锁一个 goroutine，每隔三分之一过期时间执行一个脚本"),
			Needs: strategy.ParseRights(hashRights),
			StillBroken: strategy.Flaws{
				newFlaw("paused-writer", "a paused process writes late", "暂停的进程恢复后仍会写入"),
				newFlaw("polling", "waiters poll: a storm of commands, and starvation", "等待者轮询：轮询风暴、饥饿"),
				newFlaw("failover", "a failover forgets the lock", "主从切换后锁丢失"),
			},
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true, Renewed: true, TakesBack: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv6.New(p.Client, p.Options) },
		},
		{
			Name: "v7", Title: both("fenced", "栅栏令牌"),
			Adds: both(
				"v6, and a fencing token: a number that grows with every holder; the store refuses a smaller one than it has seen",
				"在 v6 上加栅栏令牌（fencing token）：每换一个持有者就增大的数；存储拒绝小于已见过最大值的令牌",
			),
			Costs: both("as v6; the store looks at the token at every read and write", "同 v6；存储每次读写都要检查令牌"),
			Needs: strategy.ParseRights(fencedRights),
			StillBroken: strategy.Flaws{
				newFlaw("paused-holder", "two holders after a pause: only a store that checks the token is safe", "进程暂停后会有两个持有者：只有检查令牌的存储才安全"),
				newFlaw("polling", "waiters poll: a storm of commands, starvation, no order", "等待者轮询：轮询风暴、饥饿、没有先后顺序"),
				newFlaw("failover", "a failover forgets the lock", "主从切换后锁丢失"),
			},
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true, Renewed: true, TakesBack: true, Fenced: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv7.New(p.Client, p.Options) },
		},
		{
			Name: "v8", Title: both("in line", "进程内排队"),
			Adds:  both("v7, and a queue inside the process before it: one contender per process", "在 v7 前面加进程内队列：每个进程只有队首去竞争锁"),
			Costs: both("as v7, but one waiter per process polls instead of all", "同 v7，但每个进程只有一个等待者轮询"),
			Needs: strategy.ParseRights(fencedRights),
			StillBroken: strategy.Flaws{
				newFlaw("paused-holder", "two holders after a pause", "进程暂停后会有两个持有者"),
				newFlaw("own-commands", "each sale pays its own lock commands", "每单都要自己发加锁、解锁命令"),
				newFlaw("polling", "between processes: polling, in no order", "进程之间仍靠轮询，没有先后顺序"),
				newFlaw("failover", "a failover forgets the lock", "主从切换后锁丢失"),
			},
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true, Renewed: true, TakesBack: true, Fenced: true, InLine: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv8.New(p.Client, p.Options) },
		},
		{
			Name: "v9", Title: both("handed on", "进程内移交"),
			Adds: both(
				"v8, and the process is the owner: it hands the lock to its next sale without a command, a bounded number of times",
				"在 v8 上改由进程持有锁：锁直接移交给本进程的下一单，不发命令，次数有上限",
			),
			Costs: both(
				"2 scripts when nobody waits, far below 1 per sale when many do; a pause at the hand-off limit",
				"没人等待时 2 个脚本，很多人等待时每单远不到 1 个；达到移交次数上限时停顿一下",
			),
			Needs: strategy.ParseRights(fencedRights),
			StillBroken: strategy.Flaws{
				newFlaw("paused-holder", "two holders after a pause", "进程暂停后会有两个持有者"),
				newFlaw("polling", "between processes: polling, in no order", "进程之间仍靠轮询，没有先后顺序"),
				newFlaw("failover", "a failover forgets the lock", "主从切换后锁丢失"),
			},
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true, Fenced: true, InLine: true, HandsOn: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv9.New(p.Client, p.Options) },
		},
		{
			Name: "v10", Title: both("handed over", "进程间移交"),
			Adds: both(
				"v9, and a queue of processes in Redis: a release wakes the first live process by a message",
				"在 v9 上加 Redis 里的进程队列：释放后轮到队列中第一个存活的进程，并发消息唤醒它",
			),
			Costs: both("as v9 without the pause; a subscription per process, from its first wait on", "同 v9，但不用停顿；每个进程从第一次等待起有一个订阅"),
			Needs: strategy.ParseRights(queuedRights),
			StillBroken: strategy.Flaws{
				newFlaw("paused-holder", "two holders after a pause", "进程暂停后会有两个持有者"),
				newFlaw("failover", "a failover forgets the lock", "主从切换后锁丢失"),
				newFlaw("round-trips", "a buyer alone pays two round trips for a lock that nobody else wants", "只有一个买家时，没人跟他抢，加锁解锁也要两次往返"),
			},
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true, Fenced: true, InLine: true, HandsOn: true, InOrder: true, HandsOver: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv10.New(p.Client, p.Options) },
		},
		{
			Name: "v11", Title: both("cached", "缓存锁"),
			Adds: both(
				"v10, and a process keeps a lock that nobody waits for until another asks for it: its next sale costs no lock command",
				"在 v10 上加缓存：没人等待时进程缓存着锁，直到别的进程来要；本进程的下一单不发任何锁命令",
			),
			Costs: both("the first sale of another process waits for one message more; a subscription per process", "别的进程的第一单要多等一条消息；每个进程一个订阅"),
			Needs: strategy.ParseRights(queuedRights + " +hkeys &{distributedLock}:wanted:*"),
			StillBroken: strategy.Flaws{
				newFlaw("paused-holder", "two holders after a pause", "进程暂停后会有两个持有者"),
				newFlaw("failover", "a failover forgets the lock", "主从切换后锁丢失"),
				newFlaw("keeper-dies", "if its keeper dies, others wait for the expiry", "缓存着锁的进程崩溃后，别人要等锁过期，和普通持有者一样"),
			},
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true, Fenced: true, InLine: true, HandsOn: true, InOrder: true, HandsOver: true, Cached: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv11.New(p.Client, p.Options) },
		},
		{
			Name: "delex", Title: both("compare-and-delete, native", "原生的比较并删除"),
			Adds: both(
				"a branch off v4: one native command instead of the script: DELEX (Redis 8.4), DELIFEQ (Valkey 9)",
				"v4 的分支：脚本换成一条原生命令：DELEX（Redis 8.4）或 DELIFEQ（Valkey 9）",
			),
			Costs: both(
				"2 commands per sale, plus one per poll; the reply does not tell an expired lock from another's",
				"每单 2 条命令，外加每次轮询 1 条；从响应分不清锁是过期了，还是归了别人",
			),
			Needs: strategy.ParseRights("+set ~distributedLock"),
			StillBroken: strategy.Flaws{
				newFlaw("self-deadlock", "as v4", "同 v4"),
				newFlaw("older-servers", "older servers do not have the command", "旧版服务器没有这条命令"),
			},
			Native: true,
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, TakesBack: true, Terse: true,
			},
			New: func(p strategy.Parts) lock.Locker { return delex.New(p.Client, p.Options, p.CompareAndDelete) },
		},
		{
			Name: "redlock", Title: both("on a majority", "多数派"),
			Adds: both(
				"a branch off v9: a majority of N independent masters instead of one; while a minority is down or hangs, "+
					"the lock stays available and exclusive",
				"v9 的分支：一个主节点换成 N 个独立主节点的多数派；少数节点宕机或卡住时，锁仍然可用、仍然互斥",
			),
			Costs: both("every command goes to all of them; processes poll", "每条命令都要发给所有节点；进程之间轮询"),
			Needs: strategy.ParseRights(scriptRights + " +pexpire"),
			StillBroken: strategy.Flaws{
				newFlaw("no-fence", "no fencing token", "没有栅栏令牌"),
				newFlaw("no-order", "no order between processes", "进程之间没有先后顺序"),
				newFlaw("empty-restarted-node", "a node that restarts empty", "节点清空重启"),
				newFlaw("clocks", "a clock that jumps", "时钟跳变"),
			},
			OnNodes: true,
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, InLine: true, HandsOn: true,
			},
			New: func(p strategy.Parts) lock.Locker { return redlock.New(p.Nodes, p.Options) },
		},
	}
}
