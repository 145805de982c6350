package evolution

import (
	"lockstep/internal/language"
	"lockstep/internal/strategy"
)

// In gives a strategy in a language: its title, what it adds and costs, and what is still broken.
func In(in language.Language, s strategy.Strategy) strategy.Strategy {
	if words, has := chinese()[s.Name]; has && in == language.Chinese {
		s.Title, s.Adds, s.Costs, s.StillBroken = words.title, words.adds, words.costs, words.stillBroken
	}
	return s
}

// words are what a strategy says of itself.
type words struct{ title, adds, costs, stillBroken string }

// chinese are those of each strategy, as README.zh-CN.md has them.
func chinese() map[string]words {
	return map[string]words{
		"v0": {
			title: "无锁", adds: "无：GET、处理、SET",
			costs: "无", stillBroken: "丢失更新，超卖",
		},
		"v1": {
			title: "SET NX、DEL", adds: "一个只能设置一次的键；等待者每 20 毫秒轮询一次",
			costs: "每单 2 条命令，外加每次轮询 1 条", stillBroken: "持有者崩溃后，所有人永远阻塞",
		},
		"v2": {
			title: "加过期时间", adds: "同一条命令里带上过期时间",
			costs: "同 v1；还要选定过期时间", stillBroken: "超时的持有者会误删下一个持有者的锁",
		},
		"v3": {
			title: "加持有者标识", adds: "值就是持有者标识；GET、比较、DEL",
			costs: "每单 3 条命令，外加每次轮询 1 条", stillBroken: "GET 与 DEL 之间，锁可能已经易主",
		},
		"v4": {
			title: "Lua 比较并删除", adds: "比较和删除放进一个脚本",
			costs: "每单 2 条命令（其中一条是脚本），外加每次轮询 1 条", stillBroken: "嵌套调用自己等自己，永远等不到",
		},
		"v5": {
			title: "可重入（哈希）", adds: "哈希里存持有者标识和重入次数，支持嵌套调用",
			costs: "每单 2 个脚本，外加每次轮询 1 个", stillBroken: "业务耗时超过过期时间：出现两个持有者",
		},
		"v6": {
			title: "自动续期", adds: "业务执行期间自动续期；丢锁就取消业务",
			costs: "同 v5；每把锁一个 goroutine，每隔三分之一过期时间执行一个脚本", stillBroken: "暂停的进程恢复后仍会写入；等待者轮询：命令风暴、饥饿；主从切换丢锁",
		},
		"v7": {
			title: "隔离令牌", adds: "在 v6 上加令牌：每换一个持有者，令牌就增大；存储拒绝小于已见过最大值的令牌",
			costs: "同 v6；存储每次读写都要检查令牌", stillBroken: "等待者轮询：命令风暴、饥饿、没有先后顺序；主从切换丢锁",
		},
		"v8": {
			title: "进程内排队", adds: "在 v7 上加进程内队列：每个进程只有一个去竞争锁，锁在进程内依次移交，次数有上限",
			costs: "没人等待时 2 个脚本，很多人等待时每单远不到 1 个；达到移交次数上限时停顿一下", stillBroken: "进程之间仍靠轮询，没有先后顺序；主从切换丢锁",
		},
		"v9": {
			title: "移交", adds: "在 v8 上加 Redis 里的进程队列：释放时把锁移交给队列中第一个存活的进程，并发消息通知它",
			costs: "同 v8，但不用停顿；每个进程从第一次等待起有一个订阅", stillBroken: "主从切换丢锁；只有一个买家时，没人跟他抢，加锁解锁也要两次往返",
		},
		"v10": {
			title: "缓存锁", adds: "在 v9 上加缓存：没人等待时进程留着锁，直到别的进程来要；下一单不需要任何加锁命令",
			costs: "别的进程的第一单要多等一条消息；每个进程一个订阅", stillBroken: "主从切换丢锁；留着锁的进程崩溃后，要等锁过期，和普通持有者一样",
		},
		"redlock": {
			title: "多数派", adds: "v8 的分支：一个主节点换成 N 个独立主节点的多数派；少数节点可以故障",
			costs: "每条命令都要发给所有节点；进程之间轮询", stillBroken: "没有隔离令牌，进程之间没有先后顺序；节点重启后数据为空；时钟",
		},
		"local": {
			title: "单进程内的队列", adds: "先到先得，不用 Redis",
			costs: "不发命令", stillBroken: "一个副本时正确，两个副本时出错",
		},
		"atomic": {
			title: "一个脚本，不用锁", adds: "查库存和扣库存一步完成，中间没有空隙可插入",
			costs: "每单 1 个脚本", stillBroken: "一单要做的事必须全放进脚本；响应丢失时，买家无法确定自己是否买到",
		},
		"optimistic": {
			title: "WATCH，不用锁", adds: "GET 之后库存变了，SET 就会被拒绝，从头再来",
			costs: "每次尝试 3 次往返；买家越多，尝试越多", stillBroken: "冲突后要重做；不排队，慢的总抢不过快的",
		},
		"late-commit": {
			title: "解锁后才写入", adds: "在事务里用 v4 的锁：最后才提交，所以解锁之后才写入",
			costs: "同 v4", stillBroken: "没有任何故障也会丢失更新：下一个持有者读库存时，上一单还没写入",
		},
		"setnx-expire": {
			title: "SETNX 再 EXPIRE", adds: "用第二条命令设过期时间",
			costs: "每单 3 条命令，外加每次轮询 1 条", stillBroken: "在两条命令之间崩溃，锁就永远残留",
		},
		"lua-setnx": {
			title: "Lua 里 SETNX 加 EXPIRE", adds: "两条命令合成一个脚本",
			costs: "每单 2 条命令（其中一条是脚本），外加每次轮询 1 条", stillBroken: "和 v2 一样，超时的持有者会误删下一个持有者的锁",
		},
		"getset": {
			title: "SETNX 加 GETSET", adds: "值就是过期时刻：谁发现锁已过期，谁就接管",
			costs: "每单 2 条命令，外加每次轮询 2 条", stillBroken: "要求时钟一致；没有持有者标识，谁都能释放",
		},
		"set-expire": {
			title: "SET 再 EXPIRE", adds: "无：缺少 NX",
			costs: "每单 3 条命令", stillBroken: "谁都能加锁成功",
		},
		"setex": {
			title: "SETEX", adds: "无：缺少 NX",
			costs: "每单 2 条命令", stillBroken: "谁都能加锁成功",
		},
	}
}
