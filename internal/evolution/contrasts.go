package evolution

import (
	"lockstep/internal/lock"
	"lockstep/internal/lock/contrast"
	"lockstep/internal/lockv11"
	"lockstep/internal/lockv4"
	"lockstep/internal/strategy"
)

// contrasts returns the strategies outside the evolution: sales that need no lock in Redis, and antipatterns.
func contrasts() []strategy.Strategy {
	return []strategy.Strategy{
		{
			Name: "local", Title: both("a queue in one process", "单进程内的队列"),
			Adds:        both("first come, first served, without Redis", "先到先得，不用 Redis"),
			Costs:       both("no command", "不发命令"),
			StillBroken: strategy.Flaws{newFlaw("lost-update-replicas", "right with one replica, wrong with two", "一个实例时正确，两个实例时出错")},
			Scope:       strategy.Process, Capabilities: strategy.Capabilities{InOrder: true},
			New: func(p strategy.Parts) lock.Locker { return contrast.NewLocal(p.Options) },
		},
		{
			Name: "atomic", Title: both("one script, no lock", "一个脚本，不用锁"),
			Adds:        both("reading and writing in one script, so that nothing comes between", "查库存和扣库存原子执行，中间插不进别的命令"),
			Costs:       both("1 script per sale", "每单 1 个脚本"),
			Needs:       strategy.ParseRights("+decr"),
			StillBroken: strategy.Flaws{newFlaw("one-script", "all work of a sale must fit into the script", "整笔业务必须能写进一个脚本")},
			Scope:       strategy.Nobody, Update: strategy.Atomic,
			New: func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
		},
		{
			Name: "optimistic", Title: both("WATCH, no lock", "WATCH，不用锁"),
			Adds:  both("the SET is refused if the stock has changed since the GET; then the sale starts again", "GET 之后库存变了，SET 就会被拒绝，从头再来"),
			Costs: both("3 round trips per attempt; more buyers need more attempts", "每次尝试 3 次往返；买家越多，尝试越多"),
			Needs: strategy.ParseRights("+watch +unwatch"),
			StillBroken: strategy.Flaws{
				newFlaw("retries", "wasted attempts", "冲突后要重做"),
				newFlaw("no-order", "no order, so slow sales lose to fast ones", "不排队，慢的总抢不过快的"),
			},
			Scope: strategy.Nobody, Update: strategy.CheckAndSet,
			New: func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
		},
		{
			Name: "segmented", Title: both("a lock for each segment", "分段锁"),
			Adds:  both("the stock in segments, each under a v11 lock of its own", "库存分成几段，每段各用一把 v11 锁"),
			Costs: both("as v11; where a segment is sold out, the sale goes on to the next", "同 v11；一段卖完，这一单就去下一段"),
			Needs: strategy.ParseRights("+eval +exists +hexists +hget +hincrby +hkeys +pexpire +del +get +set +time +lindex +lpop +lrem " +
				"+rpush +publish +subscribe ~distributedLock:* ~{distributedLock:*}:* &{distributedLock:*}:turn:* &{distributedLock:*}:wanted:*"),
			StillBroken: strategy.Flaws{newFlaw("paused-holder", "in each segment, as v11", "每段同 v11")},
			Update:      strategy.Segmented,
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true, Fenced: true, InLine: true, HandsOn: true, InOrder: true, HandsOver: true, Cached: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv11.New(p.Client, p.Options) },
		},
		{
			Name: "late-commit", Title: both("written after the unlock", "解锁后才写入"),
			Adds: both(
				"v4's lock inside a transaction: the sale writes once it has unlocked, as the commit comes last",
				"在事务里用 v4 的锁：最后才提交，所以解锁之后才写入",
			),
			Costs: both("as v4", "同 v4"),
			Needs: strategy.ParseRights(scriptRights),
			StillBroken: strategy.Flaws{
				newFlaw(
					"commit-after-unlock", "lost updates, though nothing fails: the next holder reads before the write",
					"没有任何故障也会丢失更新：下一个持有者读库存时，上一单还没写入",
				),
			},
			Update:       strategy.LateCommit,
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, TakesBack: true},
			New:          func(p strategy.Parts) lock.Locker { return lockv4.New(p.Client, p.Options) },
		},
		{
			Name: "non-idempotent", Title: both("one script, no idempotency key", "一个脚本，没有幂等键"),
			Adds:  both("atomic's script, but it does not look whether it has the order already", "用 atomic 的脚本，但不检查这个订单是否已存在"),
			Costs: both("1 script per sale", "每单 1 个脚本"),
			Needs: strategy.ParseRights("+decr"),
			StillBroken: strategy.Flaws{
				newFlaw("resent-command", "a command that the client sends again sells again", "客户端重发一次命令，就再卖一次"),
			},
			Scope: strategy.Nobody, Update: strategy.Unchecked,
			New: func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
		},
		{
			Name: "setnx-expire", Title: both("SETNX, then EXPIRE", "SETNX 再 EXPIRE"),
			Adds:  both("an expiry, by a second command", "用第二条命令设过期时间"),
			Costs: both("3 commands per sale, plus one per poll", "每单 3 条命令，外加每次轮询 1 条"),
			Needs: strategy.ParseRights("+setnx +pexpire +del ~distributedLock"),
			StillBroken: strategy.Flaws{
				newFlaw("dies-between-set-and-expire", "a holder that dies between the two leaves a lock forever", "持有者在两条命令之间崩溃，锁就永远残留"),
			},
			Capabilities: strategy.Capabilities{Expires: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewSetNXExpire(p.Client, p.Options) },
		},
		{
			Name: "lua-setnx", Title: both("SETNX and EXPIRE in Lua", "Lua 里 SETNX 加 EXPIRE"),
			Adds:  both("the two commands as one script", "两条命令合成一个脚本"),
			Costs: both("2 commands per sale (one is a script), plus one per poll", "每单 2 条命令（其中一条是脚本），外加每次轮询 1 条"),
			Needs: strategy.ParseRights("+eval +setnx +pexpire +del ~distributedLock"),
			StillBroken: strategy.Flaws{
				newFlaw("foreign-delete", "an overdue holder deletes the next one's lock, as v2's", "和 v2 一样，业务耗时超过过期时间，就会误删下一个持有者的锁"),
			},
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewLuaSetNX(p.Client, p.Options) },
		},
		{
			Name: "getset", Title: both("SETNX, GETSET", "SETNX 加 GETSET"),
			Adds:  both("an expiry that is the value: a client that finds it in the past takes the lock over", "值就是过期时刻：谁发现锁已过期，谁就接管"),
			Costs: both("2 commands per sale, plus two per poll", "每单 2 条命令，外加每次轮询 2 条"),
			Needs: strategy.ParseRights("+setnx +get +getset +del ~distributedLock"),
			StillBroken: strategy.Flaws{
				newFlaw("clock-skew", "it needs equal clocks", "要求时钟一致"),
				newFlaw("no-owner", "no owner, so anybody can release", "没有持有者标识，谁都能释放"),
			},
			Capabilities: strategy.Capabilities{Expires: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewGetSet(p.Client, p.Options) },
		},
		{
			Name: "set-expire", Title: both("SET, then EXPIRE", "SET 再 EXPIRE"),
			Adds:         both("nothing: there is no NX", "无：缺少 NX"),
			Costs:        both("3 commands per sale", "每单 3 条命令"),
			Needs:        strategy.ParseRights("+set +pexpire +del ~distributedLock"),
			StillBroken:  strategy.Flaws{newFlaw("no-exclusion", "everybody gets the lock", "谁都能加锁成功")},
			Capabilities: strategy.Capabilities{Open: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewSetExpire(p.Client, p.Options) },
		},
		{
			Name: "setex", Title: both("SETEX", "SETEX"),
			Adds:         both("nothing: there is no NX", "无：缺少 NX"),
			Costs:        both("2 commands per sale", "每单 2 条命令"),
			Needs:        strategy.ParseRights("+set +del ~distributedLock"),
			StillBroken:  strategy.Flaws{newFlaw("no-exclusion", "everybody gets the lock", "谁都能加锁成功")},
			Capabilities: strategy.Capabilities{Open: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewSetEX(p.Client, p.Options) },
		},
	}
}
