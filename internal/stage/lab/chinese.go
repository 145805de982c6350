package lab

import (
	"slices"

	"lockstep/internal/language"
)

// chinese is what the labs say, in English and in Chinese. What is missing is said in English.
func chinese() language.Dictionary {
	return slices.Concat(chineseClaims(), chineseCures(), chineseFaults(), chineseFlaws(), chineseReasons(), chineseExceptions())
}

// chineseClaims are what a lock that holds promises.
func chineseClaims() [][2]string {
	return [][2]string{
		{"a buyer who goes away does not leave the lock behind", "买家中途离开，锁不会残留"},
		{"a release that arrives late does not remove another's lock", "迟到的解锁不会删除别人的锁"},
		{"a wrong clock does not give the lock to two", "时钟不准也不会让两单同时持有锁"},
		{"what was computed under the lock is written under the lock", "在锁内算出的结果，在锁内写入"},
		{"a process that dies while it takes the lock leaves nothing that stays", "加锁途中崩溃的进程不会留下永久的锁"},
		{"nobody removes a lock that is another's", "谁也不会删除别人的锁"},
		{"a holder that dies does not block the others for ever", "持有者崩溃后，别人不会永远等下去"},
		{"a command that arrives when its sale has given up does not block the others for ever", "下单已放弃，命令才到达，别人也不会永远等下去"},
		{"a lock whose reply is lost is not left behind", "加锁的响应丢失后，锁不会残留"},
		{"what a sale has written, no other sale overwrites unread", "一单写入的内容，不会被没有读过它的另一单覆盖"},
		{"what a sale has written, no sale of another process overwrites unread", "一单写入的内容，不会被另一个进程中没有读过它的一单覆盖"},
		{"whoever works for longer than the expiry keeps its lock", "业务执行得比过期时间长，锁仍然是自己的"},
		{"a holder that was stopped past the expiry of its lock writes nothing", "暂停超过锁的过期时间的持有者，恢复后写不进去"},
		{"a sale that waits does not ask Redis again and again", "等待的一单不会反复询问 Redis"},
		{"a holder that Redis no longer hears stops before another gets the lock", "与 Redis 失联的持有者，在别人拿到锁之前停止执行"},
		{"a nested call gets the lock that its caller holds", "嵌套调用可以得到外层调用已持有的锁"},
		{"a waiter that dies holds the others up for one expiry and a quarter at most", "等待者崩溃，别人最多多等一又四分之一个过期时间"},
		{"a lock is not renewed any more once the work is over that it was for", "业务结束后，它的锁不再续期"},
		{"a waiter whose message is lost goes on within a quarter of the expiry", "通知丢失的等待者，在四分之一个过期时间内继续"},
		{"a sale is not overtaken again and again by later sales of its own process", "一单不会反复被本进程中后来的单超过"},
		{"a sale is not overtaken again and again by later sales of another process", "一单不会反复被另一个进程中后来的单超过"},
		{"while Redis is gone, each buyer is soon told the truth; when it is back, sales go on", "Redis 不在时，每个买家很快得到如实的答复；它回来后，下单继续"},
		{"a holder whose lock expires while Redis hangs is told before another gets it", "Redis 卡住期间锁过期，持有者在别人拿到锁之前得知"},
		{"a command that the client sends a second time, unasked, is not counted twice", "客户端自行重发的命令不会计两次"},
		{"a scheduled job is run once a tick, however many replicas there are", "无论有多少副本，定时任务每个 tick 只运行一次"},
		{"a replica that dies with the lock of a scheduled job costs no other tick", "持有定时任务的锁的副本崩溃，不影响别的 tick"},
		{"a run of a scheduled job that takes longer than its tick has no other run beside it", "定时任务运行得比 tick 长，也不会与另一次运行重叠"},
		{"a process that was stopped past the expiry of its lock is told before it writes", "暂停超过锁的过期时间的进程，写入之前得知丢了锁"},
		{"a Redis that restarts empty does not let a second holder overwrite the first one's sale", "Redis 清空重启，第二个持有者不会覆盖第一个的写入"},
		{"a master that dies while the lock is held does not let a second holder overwrite the first one's sale", "持锁期间主节点崩溃，第二个持有者不会覆盖第一个的写入"},
		{"a holder that was cut off past the expiry of its lock writes nothing when it reaches Redis again", "断网超过锁的过期时间的持有者，重新连上 Redis 后写不进去"},
		{"one Redis that does not answer in time does not keep a sale from the lock", "一个 Redis 没有及时响应，不妨碍下单拿到锁"},
	}
}

// chineseCures are how a flaw is cured.
func chineseCures() [][2]string {
	return [][2]string{
		{
			"the release has a context of its own, which no buyer can cancel (context.WithoutCancel)",
			"解锁用自己的 context，买家无法取消它（context.WithoutCancel）",
		},
		{"compare and delete in one script: nothing can come between", "用一个脚本完成比较和删除，中间插不进别的命令"},
		{"let Redis count the time: SET … EX", "让 Redis 计时：SET … EX"},
		{"the transaction belongs inside the lock: commit, then unlock", "事务要放在锁内：先提交，再解锁"},
		{"both commands in one script; or SET … NX EX, as v2 does", "两条命令放进一个脚本；或者像 v2 那样用 SET … NX EX"},
		{"the value is the owner: look whose the lock is before deleting it", "值是持有者标识：删除之前先看锁是谁的"},
		{"an expiry in the same command: SET … EX … NX", "在同一条命令里设置过期时间：SET … EX … NX"},
		{"an expiry in the same command: what arrives late goes by itself, too", "在同一条命令里设置过期时间：迟到的锁也会自行过期"},
		{"who does not know whether it has the lock gives it back: the owner is known, so that is safe", "不确定是否加锁成功时就释放：持有者标识是已知的，所以是安全的"},
		{"a lock: while a sale holds it, no other sale reads the stock", "加锁：一单持有锁时，别的单不读库存"},
		{"a lock in Redis, which all processes ask; a queue in one process knows nothing of the others", "锁放在所有进程都访问的 Redis 里；进程内的队列不知道别的进程"},
		{
			"renewal: a goroutine sets the expiry again every third of it, as long as the work goes on",
			"续期：只要业务还在执行，就有一个 goroutine 每隔三分之一过期时间重设一次过期时间",
		},
		{"a fencing token: the store refuses a write with a smaller one than it has seen", "隔离令牌：存储拒绝令牌小于已见过最大值的写入"},
		{
			"a queue of processes in Redis: whoever releases hands the lock to the first, and tells it by a message",
			"Redis 里的进程队列：释放者把锁移交给队首，并发消息通知它",
		},
		{
			"a holder counts from when it last asked for a renewal; one expiry later the lock is lost, and the work is cancelled",
			"持有者从上一次发出续期请求时算起；过了一个过期时间就视为失去锁，并取消业务",
		},
		{"a hash of owner and count: whoever holds the lock may take it once more", "用哈希记录持有者和次数：锁的持有者可以再次加锁"},
		{
			"a place in the queue expires unless its process asks again, and a lock that is handed over lasts as long as that place",
			"队列里的位置若不再次询问就会过期；移交的锁与这个位置同时过期",
		},
		{
			"the renewal belongs to the lease: Unlock ends it first, and only then tries to release the lock; what is not released expires",
			"续期属于租约：解锁时先停止续期，再释放锁；没能释放的锁会过期",
		},
		{
			"a message only saves time: who waits asks again every quarter of the expiry, and then finds that it holds the lock",
			"通知只是省时间：等待者每隔四分之一过期时间再问一次，就会发现自己已持有锁",
		},
		{"a queue inside the process: first come, first served", "进程内队列：先来先得"},
		{
			"a queue of processes in Redis: a process hands the lock to as many of its own sales as is fair, and then to the next process",
			"Redis 里的进程队列：一个进程先移交给自己的若干单（次数有公平的上限），再移交给下一个进程",
		},
		{"an expiry: a lock that its holder could not give back goes by itself", "设置过期时间：持有者没能释放的锁会自行过期"},
		{
			"the holder counts the expiry by its own clock, from when it sent the last renewal: it needs no answer to know",
			"持有者用自己的时钟，从发出最近一次续期时算起：不需要响应也能知道",
		},
		{
			"the outermost release removes the lock whatever Redis has counted; and clients that repeat nothing (MaxRetries: -1)",
			"最外层的解锁直接删除锁，不管 Redis 里计了几次；并且客户端不重发（MaxRetries: -1）",
		},
		{
			"a lock that every replica tries once a tick; whoever gets it runs the job, and keeps the lock for a part of the tick",
			"每个副本每个 tick 尝试一次加锁；成功者运行任务，并把锁保留 tick 的一段时间",
		},
		{"an expiry of half a tick", "过期时间为半个 tick"},
		{"renewal: the lock lasts as long as the run, and the ticks meanwhile are left out", "续期：锁与运行一样长，其间的 tick 跳过"},
		{"a timer at the expiry: it is overdue when the process goes on, and cancels the work", "在过期时刻设定时器：进程恢复时它已到期，于是取消业务"},
		{
			"the lock where the stock is: a Redis that forgets the one forgets the other, and refuses what belongs to a run that is " +
				"over; with redlock, a node must stay away for one expiry before it starts again, or write down every command " +
				"(appendfsync always)",
			"锁与库存放在一起：Redis 丢了一个也就丢了另一个，并拒绝属于已结束那一轮的写入；使用 redlock 时，节点要停够一个过期时间再重启，或者每条命令都落盘（appendfsync always）",
		},
		{
			"no replica that takes over with less: the lock on independent masters, of which a minority may die; or no lock for what " +
				"the store can compare by itself (optimistic)",
			"不让数据更少的从节点接管：锁放在多个独立主节点上，少数可以崩溃；或者存储自己能比较的，就不用锁（optimistic）",
		},
		{
			"one expiry after it last heard of its lock, a holder is told that the lock is lost, and its work is cancelled",
			"持有者最近一次得知锁有效之后过了一个过期时间，就得知锁已丢失，业务被取消",
		},
		{
			"the lock on a majority of independent masters: a twentieth of the expiry for each, and a minority may be late",
			"锁在多数独立主节点上：每个节点最多等二十分之一个过期时间，少数可以迟到",
		},
	}
}

// chineseFaults are what must have happened.
func chineseFaults() [][2]string {
	return [][2]string{
		{"the buyer goes away, and the sale ends unsold", "买家离开，这一单没有卖出就结束"},
		{"the release is held until another has the lock", "解锁命令被扣留，直到别人拿到锁"},
		{"the second sale, an hour ahead, asks while the first is at work", "第一单执行期间，时钟快一小时的第二单来加锁"},
		{"the write of r1 is on the way while r2 asks, and both write", "r1 的写入还在途中时 r2 来加锁，两单都写入"},
		{"r1 dies while it takes the lock, or right after", "r1 在加锁途中或刚加锁后崩溃"},
		{"the second sale asks while the first is at work", "第一单执行期间，第二单来加锁"},
		{"r1 dies while its sale holds the lock", "r1 的一单持有锁时，r1 崩溃"},
		{"the first sale fails while its command is on the way, and then the command takes the lock", "第一单失败时命令还在途中，随后这条命令加锁成功"},
		{"Redis takes the lock for r1, and the reply is lost", "Redis 为 r1 加锁成功，但响应丢失"},
		{"the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"},
		{"r1 is stopped while its write is on the way, the other sells, and then the write arrives", "r1 的写入还在途中时被暂停，另一单卖出，然后写入到达"},
		{"r1 is cut off from Redis while its sale holds the lock, and the other sells", "r1 的一单持有锁时与 Redis 断开，另一单卖出"},
		{"a sale makes a nested call", "一单发起嵌套调用"},
		{"r2 and r3 die while they wait before r4", "排在 r4 前面的 r2 和 r3 在等待时崩溃"},
		{"r1 has renewed its lock, the buyer goes away, and the release is lost", "r1 续期之后买家离开，解锁命令丢失"},
		{"r1 hands the lock to r2, and the message is lost", "r1 把锁移交给 r2，通知丢失"},
		{"the next attempt of the second sale is held on its way, and others ask after it", "第二单的下一次尝试被扣在途中，别的单在它之后来加锁"},
		{"the next attempt of r1's sale is held on its way, and sales of r2 ask after it", "r1 的一单的下一次尝试被扣在途中，r2 的单在它之后来加锁"},
		{"Redis is gone when r1 is to hear that it has written, and comes back", "r1 等待写入的响应时 Redis 不在了，之后又回来"},
		{"Redis hangs while r1's sale is at work, and then the other sells", "r1 的一单执行期间 Redis 卡住，之后另一单卖出"},
		{"Redis is sent r1's command twice", "r1 的命令发给 Redis 两次"},
		{"the first tick is run", "第一个 tick 运行了"},
		{"the replica that runs the first tick dies with the lock", "运行第一个 tick 的副本持锁崩溃"},
		{"a run goes on when the next tick begins", "下一个 tick 开始时，上一次运行还在继续"},
		{"r1 is stopped at its work, the other sells, and r1 goes on before its work is done", "r1 在执行中被暂停，另一单卖出，r1 在业务结束前恢复"},
		{"a Redis with the lock restarts empty while the first sale is at work, and both write", "第一单执行期间，放锁的 Redis 清空重启，两单都写入"},
		{"a master that has the lock dies while the first sale is at work, and both write", "第一单执行期间，放锁的主节点崩溃，两单都写入"},
		{
			"r1 is cut off while its sale holds the lock, the other sells, and r1 reaches Redis before its write, or is told first",
			"r1 的一单持有锁时断网，另一单卖出，r1 在写入之前重新连上 Redis，或先得知丢了锁",
		},
		{"the command for the lock is held until the sale has ended", "加锁命令被扣留，直到这一单结束"},
	}
}

// chineseFlaws are why a strategy is broken.
func chineseFlaws() [][2]string {
	return [][2]string{
		{"its GET said that the lock was its own; when the DEL arrives, it is another's", "GET 时锁还是自己的；DEL 到达时已经是别人的"},
		{"the DEL does not ask whose the lock is", "DEL 不管锁是谁的"},
		{"by the clock of r2 the lock has expired long ago", "按 r2 的时钟，锁早已过期"},
		{"it has unlocked, so the next holder reads before it has written", "它已解锁，所以下一个持有者在它写入之前就读了库存"},
		{"nothing keeps the other out", "没有什么阻止另一单"},
		{"the lock is there, and its expiry is not yet", "锁已经有了，过期时间还没有"},
		{"its lock never has an expiry", "它的锁没有过期时间"},
		{"DEL deletes the lock, whosever it is by now", "DEL 直接删除锁，不管这时锁是谁的"},
		{"no owner, so the first deletes what the second took over", "没有持有者标识，所以第一单删除了第二单接管的锁"},
		{"nobody removes the dead holder's lock", "没有人删除崩溃的持有者的锁"},
		{"the lock is nobody's, and never expires", "锁不属于任何人，也永不过期"},
		{"the value does not say whose the lock is, and it never expires", "值没有说明锁是谁的，而且永不过期"},
		{"the value does not say whose the lock is: it stays until it expires", "值没有说明锁是谁的：锁一直留到过期"},
		{"it does not give back what it may have: the lock stays until it expires", "它不释放自己可能持有的锁：锁一直留到过期"},
		{"nothing keeps the second sale from reading what the first has not yet replaced", "没有什么阻止第二单读到第一单还没有改写的库存"},
		{"without NX everybody gets the lock", "没有 NX，谁都能加锁成功"},
		{"each process has a queue of its own", "每个进程各有一个队列"},
		{"the lock expires after 2s, and the work takes 5s", "锁 2 秒后过期，业务要执行 5 秒"},
		{"the other process has a queue of its own", "另一个进程有自己的队列"},
		{"a stopped process renews nothing, and the store takes a write from anybody", "暂停的进程不续期，而存储接受任何人的写入"},
		{"it has no fencing token", "它没有隔离令牌"},
		{"it asks every 20ms", "它每 20 毫秒询问一次"},
		{"the holder never learns that its lock has expired", "持有者不会得知自己的锁已过期"},
		{"the nested call finds the lock held, and waits: for its own caller", "嵌套调用发现锁被占用，于是等待：等的是自己的外层调用"},
		{"the nested call stands in the queue behind its own caller", "嵌套调用在队列里排在自己的外层调用后面"},
		{"everybody asks now and then, and gets the lock by chance", "各自隔一会儿问一次，碰运气得到锁"},
		{"whoever asks at the right moment gets the lock", "谁问得正是时候谁得到锁"},
		{"the other process hands the lock to its own sales, and this one asks now and then", "另一个进程把锁移交给自己的单，这一单隔一会儿才问一次"},
		{"the holder could not give its lock back, and it never expires", "持有者没能释放锁，而锁永不过期"},
		{"the holder asks Redis nothing, and nobody tells it", "持有者不问 Redis，也没有人告诉它"},
		{"the second is refused for the first: the sale waits for itself, and its lock never expires", "第二次因第一次而被拒绝：这一单等的是自己，而锁永不过期"},
		{"the second is refused for the first: the sale waits for itself until it expires", "第二次因第一次而被拒绝：这一单等自己的锁，直到过期"},
		{"the second is refused for the first: the sale waits for itself until the lock expires", "第二次因第一次而被拒绝：这一单等自己的锁，直到过期"},
		{"it is counted twice and given back once: the lock stays until it expires", "计了两次，只释放一次：锁一直留到过期"},
		{"there is no lock: every replica runs the job", "没有锁：每个副本都运行任务"},
		{"everybody gets the lock: every replica runs the job", "谁都能加锁成功：每个副本都运行任务"},
		{"each process has a lock of its own", "每个进程各有一把锁"},
		{"the dead replica's lock stays: the job is never run again", "崩溃的副本的锁残留：任务再也不运行"},
		{"the lock expires after half a tick, and the next run begins beside", "锁在半个 tick 后过期，下一次运行与它重叠"},
		{"nobody tells it, and it writes over the other's update", "没有人告诉它，它覆盖了另一单的更新"},
		{
			"the node that has forgotten the first makes a majority for the second, with two that the first did not reach",
			"忘了第一单的节点，与第一单没有连上的两个节点一起，为第二单凑成多数派",
		},
		{"the replica takes over and has not heard of the lock: the second gets it, too", "接管的从节点没有收到这把锁：第二单也加锁成功"},
		{
			"the replica has heard neither of the lock nor of the last token: the second gets the same token, and the store takes both",
			"从节点既没有收到锁，也没有收到最新的令牌：第二单得到同样的令牌，存储两个都接受",
		},
		{"nobody tells the holder, and the store takes a write from anybody", "没有人告诉持有者，而存储接受任何人的写入"},
		{"it asks all nodes again every 10 to 20ms", "它每 10 到 20 毫秒再次询问所有节点"},
		{"there is one Redis to ask: the sale waits for it until the client gives up", "只有一个 Redis 可问：这一单一直等到客户端放弃"},
	}
}

// chineseReasons are why a strategy holds.
func chineseReasons() [][2]string {
	return [][2]string{
		{"the lock is given back all the same", "锁照样会释放"},
		{"the script compares when it arrives", "脚本到达时才比较"},
		{"only durations are measured by the own clock", "自己的时钟只用来测量时长"},
		{"it still holds the lock, so the other waits", "它仍然持有锁，所以另一单等待"},
		{"the write itself looks at the stock", "写入时会再看库存"},
		{"there is no moment between the two", "两者之间没有空隙"},
		{"the value itself is the expiry", "值本身就是过期时刻"},
		{"a lock that never expires is never another's", "永不过期的锁不会变成别人的"},
		{"the first finds that the lock is another's, and leaves it alone", "第一单发现锁是别人的，就不动它"},
		{"v4's lock", "用的是 v4 的锁"},
		{"the first renews its lock, so the second waits", "第一单给锁续期，所以第二单等待"},
		{"the lock expires; then the other gets it", "锁过期后，另一单就能拿到"},
		{"the other finds the expiry in the past, and takes the lock over", "另一单发现锁已过期，于是接管"},
		{"its second command was never sent", "它的第二条命令没有发出"},
		{"the lock that nobody has expires", "没有人持有的锁会过期"},
		{"it gives back what it may have: the value is the owner", "它释放自己可能持有的锁：值就是持有者标识"},
		{"it gives back what it may have", "它释放自己可能持有的锁"},
		{"the second sale waits until the first has written", "第二单等到第一单写入之后"},
		{"both sales are in one process, so its queue is enough", "两单在同一个进程里，进程内队列就够了"},
		{"one script reads and writes", "一个脚本完成读和写"},
		{"the second write is refused, and its sale reads again", "第二次写入被拒绝，这一单重新读"},
		{"its lock never expires", "它的锁永不过期"},
		{"the holder renews its lock", "持有者给锁续期"},
		{"the store has seen the next holder's token, and refuses the old one", "存储见过下一个持有者的令牌，拒绝旧的"},
		{"it asks for a place in the queue, and is told when it is its turn", "它在队列里占一个位置，轮到时会收到通知"},
		{"the holder knows when its lock can have expired, and stops", "持有者知道锁何时可能已过期，并停止执行"},
		{"the nested call has the same owner, and is counted", "嵌套调用的持有者标识相同，只增加次数"},
		{"the process knows that the owner has the lock", "进程知道这个持有者已有锁"},
		{"nobody ever waits", "谁都不需要等待"},
		{"the lock is handed to the dead, and expires with its place; then the next that lives is the first", "锁移交给崩溃者后，随它的位置一起过期；然后轮到下一个存活的"},
		{"there is no queue of processes: who is dead does not ask", "进程之间没有队列：崩溃者不会再来问"},
		{"the renewal ends before the release; then the lock expires", "先停止续期再释放；之后锁会过期"},
		{"there is one renewal per holding, and it ends with it", "每个持有期只有一个续期，随它结束"},
		{"it asks again after a quarter of the expiry", "过四分之一个过期时间后它会再问"},
		{"the sales of a process stand in a queue", "同一进程的各单排队"},
		{
			"a process that others wait for hands the lock to its own sales three times at most, if nobody waited when it got it",
			"有别的进程等待时，一个进程最多移交给自己的单三次（如果它拿到锁时没有人等待）",
		},
		{"the lock that nobody could give back expires; then sales go on", "没能释放的锁会过期，之后下单继续"},
		{"it had given its lock back before it wrote", "它在写入之前已经释放了锁"},
		{"its lock is on other nodes, which are there: it is given back", "它的锁在别的节点上，那些节点都在：锁会释放"},
		{"a renewal without an answer does not count: the holder stops in time", "没有响应的续期不算数：持有者及时停止"},
		{"it is counted twice; the outermost release gives back all of it", "计了两次；最外层的解锁全部释放"},
		{"the second says what the first has done: the process has the lock", "第二次报告第一次的结果：进程已有锁"},
		{"only one replica gets the lock of a tick", "每个 tick 只有一个副本得到锁"},
		{"only one replica gets the lock in each tick", "每个 tick 只有一个副本得到锁"},
		{"the lock expires before the next tick", "锁在下一个 tick 之前过期"},
		{"it died after its second command: see dies-between-set-and-expire", "它在第二条命令之后崩溃：见 dies-between-set-and-expire"},
		{"the others find the expiry in the past, and take the lock over", "其他副本发现锁已过期，于是接管"},
		{"its lock never expires: the next tick is left out", "它的锁永不过期：下一个 tick 跳过"},
		{"the lock is renewed: the next tick is left out", "锁会续期：下一个 tick 跳过"},
		{
			"it is told as soon as it goes on; only a write that is on its way would arrive: see paused-writer",
			"它一恢复就得知；只有已在途中的写入会到达：见 paused-writer",
		},
		{"it is told as soon as it goes on; and if it wrote, the store would refuse its token", "它一恢复就得知；即使写入，存储也会拒绝它的令牌"},
		{"it is told as soon as it goes on; it has no token, should it write: see paused-writer", "它一恢复就得知；但如果写入，它没有令牌：见 paused-writer"},
		{"its write is refused, and it reads again", "它的写入被拒绝，于是重新读"},
		{"the stock and its run are forgotten with the lock, so the first one's write is refused", "库存和这一轮与锁一起丢失，所以第一单的写入被拒绝"},
		{"four of five masters still have the lock, and the dead one has no replica that could say otherwise", "五个主节点中四个仍有这把锁，崩溃的那个没有从节点可以改口"},
		{"the holder knows for how long a majority's word is valid, and stops", "持有者知道多数派的答复多久有效，到时停止"},
		{"four of five nodes answer, and the late one is waited for no longer than a twentieth of the expiry", "五个节点中四个有响应，迟到的那个最多等二十分之一个过期时间"},
	}
}

// chineseExceptions are why a lab is not for a strategy.
func chineseExceptions() [][2]string {
	return [][2]string{
		{"there is no lock that the other would wait for", "没有让另一单等待的锁"},
		{"its lock never expires, so it never changes hands before the DEL", "它的锁永不过期，所以 DEL 之前不会易主"},
		{"a sale sends no release when nobody waits", "没有人等待时，下单不发送解锁命令"},
		{"its nodes are not behind the proxy", "它的节点不经过代理"},
		{"its lock changes hands by the client's clock", "它的锁按客户端的时钟易主"},
		{"there is no lock that one alone holds", "没有由一单独占的锁"},
		{"it keeps no other process out", "它不阻止别的进程"},
		{"the witness does not see its nodes: it cannot tell that the other waits", "见证看不到它的节点，无法得知另一单在等待"},
		{"the dead holder leaves nothing that the other would wait for", "崩溃的持有者没有留下让另一单等待的东西"},
		{"there is no lock in Redis", "Redis 里没有锁"},
		{"everybody gets the lock at any time", "任何时候谁都能加锁成功"},
		{"see commit-after-unlock", "见 commit-after-unlock"},
		{"there is no lock", "没有锁"},
		{"its lock never expires: the other waits", "它的锁永不过期：另一单会等待"},
		{"it has unlocked by then: see commit-after-unlock", "这时它已解锁：见 commit-after-unlock"},
		{"the witness does not see its nodes", "见证看不到它的节点"},
		{"nobody waits for another process", "没有人等待别的进程"},
		{"this lab says nothing about it", "这个实验没有涉及它"},
		{"the lab loses one release, and each node gets its own", "这个实验只丢一条解锁命令，而每个节点各收到一条"},
		{"it has no lock; its one command, sent twice, would sell twice", "它没有锁；它唯一的命令发两次就会卖两次"},
		{"nothing renews its lock", "没有什么给它的锁续期"},
		{"nobody is told: who waits asks again and again", "没有通知：等待者反复询问"},
		{"nobody is told anything: who waits asks again and again", "没有通知：等待者反复询问"},
		{"nobody waits", "没有人等待"},
		{"there is no lock that anybody would wait for; the buyer in doubt is told so", "没有让人等待的锁；结果不明的买家会得到如实的答复"},
		{"its nodes do not hang with the Redis of the stock: see slow-node", "它的节点不与存库存的 Redis 一起卡住：见 slow-node"},
		{"there is no lock that could be counted twice, or refused", "没有可以计两次或被拒绝的锁"},
		{"every replica runs every tick: see scheduled-job", "每个副本运行每个 tick：见 scheduled-job"},
		{"it reads and writes in one step, so it cannot be stopped between", "它一步完成读和写，所以中间不会被暂停"},
	}
}
