package matrix

import (
	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

// translate gives a text of a row in another language; as it is, where it has not been translated.
func translate(in language.Language, text string) string {
	if translated := chinese().Translate(in, text); translated != text {
		return translated
	}
	return lab.Translate(in, text)
}

// chinese is what the rows of the explorer say, in English and in Chinese, where no lab says the same.
func chinese() language.Dictionary {
	return language.Dictionary{
		{"a failover of Redis does not give the lock to a second holder", "Redis 主从切换不会让锁有第二个持有者"},
		{"the new master does not know the lock", "新的主节点不知道这把锁"},
		{"its nodes have no replicas: see empty-restarted-node", "它的节点没有从节点：见 empty-restarted-node"},
		{"a node that restarts empty does not give the lock to a second holder", "节点清空重启不会让锁有第二个持有者"},
		{"the node that restarted grants the lock again, and makes a second majority", "重启的节点再次授予锁，凑成第二个多数派"},
		{"it is on one Redis: see failover", "它只在一个 Redis 上：见 failover"},
		{"a clock of Redis that jumps ahead does not give the lock to a second holder", "Redis 的时钟向前跳不会让锁有第二个持有者"},
		{"the lock expires before its time", "锁提前过期"},
		{"the lock expires on one node before its time, and that node makes a second majority", "锁在一个节点上提前过期，该节点凑成第二个多数派"},
		{"its lock expires by the client's clock: see clock-skew", "它的锁按客户端的时钟过期：见 clock-skew"},
		{"a waiting sale is not overtaken again and again by sales of other processes that asked later", "等待的一单不会反复被别的进程中后来的单超过"},
		{"waiters poll: who asks at the right moment gets the lock", "等待者轮询：谁问得正是时候谁得到锁"},
		{"its queue is in one process; the processes poll", "它只在进程内排队；进程之间轮询"},
		{
			"its processes stand in a queue, and how often one may go first is bounded: lock.hand_off_limit",
			"它的进程之间排队，一个进程能抢先的次数有上限：lock.hand_off_limit",
		},
		{"a lock that no living sale holds does not have to expire before a waiter gets it", "没有存活的一单持有锁时，等待者不必等锁过期就能得到它"},
		{"the reply to its SET is lost, and it does not give back what it may have", "加锁的响应丢失，而它不释放自己可能持有的锁"},
		{"a command that arrives after its sale has given up is nobody's", "下单已放弃，命令才到达：锁不属于任何人"},
		{"its nodes make more schedules than are explored", "它的节点使时序太多，没有全部探索"},
		{"its lock never expires: see holder-dies", "它的锁永不过期：见 holder-dies"},
		{"Unlock, and every error, says what is so", "解锁的结果和每个错误都如实反映情况"},
		{"Unlock deletes another's lock, and says that it was its own", "解锁时删除了别人的锁，却报告是自己的"},
		{"it says that it has no lock, and may have one", "它报告没有锁，其实可能有"},
		{"Unlock says that the lock was its own, and it is another's by then", "解锁报告锁是自己的，而这时锁已经是别人的"},
		{"its lock is never another's", "它的锁不会变成别人的"},
		{"the script compares and deletes, and says which it was", "脚本比较并删除，并报告是哪种情况"},
		{"each holder's fencing token is larger than those before it, while Redis forgets nothing", "只要 Redis 不丢数据，每个持有者的隔离令牌都大于之前的"},
		{"the script that gives the lock also counts", "加锁的脚本同时计数"},
		{"it has no token", "它没有令牌"},
		{"no goroutine of a lock outlives its sale", "锁的 goroutine 不会在下单结束后继续运行"},
		{"Unlock stops the renewal, and waits for its end", "解锁会停止续期，并等它结束"},
		{"it starts none", "它不启动 goroutine"},
		{"no sale fails where nothing has gone wrong", "没有出错时，没有一单会失败"},
		{"only what goes wrong makes it fail", "只有出错才会使它失败"},
		{"a refused attempt is made again", "被拒绝的尝试会重做"},
		{"nothing is said about it", "没有涉及它"},
		{leftOut, "它不在快速的部分里"},
		{lab.ErrNoRedis.Error(), "没有安装 redis-server"},
		{lab.ErrNoSignals.Error(), "这个实验要暂停进程，只有 Unix 可以"},
	}
}
