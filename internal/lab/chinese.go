package lab

import "maps"

// chinese is what the labs say, in Chinese, by the English text. What is missing is said in English.
func chinese() map[string]string {
	all := chineseClaims()
	maps.Copy(all, chineseCures())
	maps.Copy(all, chineseFaults())
	maps.Copy(all, chineseFlaws())
	maps.Copy(all, chineseReasons())
	maps.Copy(all, chineseExceptions())
	return all
}

// chineseClaims are what a lock that holds promises.
func chineseClaims() map[string]string {
	return map[string]string{
		"a buyer who goes away does not leave the lock behind":                                 "买家中途离开，锁不会残留",
		"a release that arrives late does not remove another's lock":                           "迟到的解锁不会删除别人的锁",
		"a wrong clock does not give the lock to two":                                          "时钟不准也不会让两单同时持有锁",
		"what was computed under the lock is written under the lock":                           "在锁内算出的结果，在锁内写入",
		"a process that dies while it takes the lock leaves nothing that stays":                "加锁途中崩溃的进程不会留下永久的锁",
		"nobody removes a lock that is another's":                                              "谁也不会删除别人的锁",
		"a holder that dies does not block the others for ever":                                "持有者崩溃后，别人不会永远等下去",
		"a command that arrives when its sale has given up does not block the others for ever": "下单已放弃，命令才到达，别人也不会永远等下去",
		"a lock whose reply is lost is not left behind":                                        "加锁的响应丢失后，锁不会残留",
		"what a sale has written, no other sale overwrites unread":                             "一单写入的内容，不会被没有读过它的另一单覆盖",
		"what a sale has written, no sale of another process overwrites unread":                "一单写入的内容，不会被另一个进程中没有读过它的一单覆盖",
		"whoever works for longer than the expiry keeps its lock":                              "业务执行得比过期时间长，锁仍然是自己的",
		"a holder that was stopped past the expiry of its lock writes nothing":                 "暂停超过锁的过期时间的持有者，恢复后写不进去",
		"a sale that waits does not ask Redis again and again":                                 "等待的一单不会反复询问 Redis",
		"a holder that Redis no longer hears stops before another gets the lock":               "与 Redis 失联的持有者，在别人拿到锁之前停止执行",
		"a nested call gets the lock that its caller holds":                                    "嵌套调用可以得到外层调用已持有的锁",
	}
}

// chineseCures are how a flaw is cured.
func chineseCures() map[string]string {
	return map[string]string{
		"the release has a context of its own, which no buyer can cancel (context.WithoutCancel)":                             "解锁用自己的 context，买家无法取消它（context.WithoutCancel）",
		"compare and delete in one script: nothing can come between":                                                          "用一个脚本完成比较和删除，中间插不进别的命令",
		"let Redis count the time: SET … EX":                                                                                  "让 Redis 计时：SET … EX",
		"the transaction belongs inside the lock: commit, then unlock":                                                        "事务要放在锁内：先提交，再解锁",
		"both commands in one script; or SET … NX EX, as v2 does":                                                             "两条命令放进一个脚本；或者像 v2 那样用 SET … NX EX",
		"the value is the owner: look whose the lock is before deleting it":                                                   "值是持有者标识：删除之前先看锁是谁的",
		"an expiry in the same command: SET … EX … NX":                                                                        "在同一条命令里设置过期时间：SET … EX … NX",
		"an expiry in the same command: what arrives late goes by itself, too":                                                "在同一条命令里设置过期时间：迟到的锁也会自行过期",
		"who does not know whether it has the lock gives it back: the owner is known, so that is safe":                        "不确定是否加锁成功时就释放：持有者标识是已知的，所以是安全的",
		"a lock: while a sale holds it, no other sale reads the stock":                                                        "加锁：一单持有锁时，别的单不读库存",
		"a lock in Redis, which all processes ask; a queue in one process knows nothing of the others":                        "锁放在所有进程都访问的 Redis 里；进程内的队列不知道别的进程",
		"renewal: a goroutine sets the expiry again every third of it, as long as the work goes on":                           "续期：只要业务还在执行，就有一个 goroutine 每隔三分之一过期时间重设一次过期时间",
		"a fencing token: the store refuses a write with a smaller one than it has seen":                                      "隔离令牌：存储拒绝令牌小于已见过最大值的写入",
		"a queue of processes in Redis: whoever releases hands the lock to the first, and tells it by a message":              "Redis 里的进程队列：释放者把锁移交给队首，并发消息通知它",
		"a holder counts from when it last asked for a renewal; one expiry later the lock is lost, and the work is cancelled": "持有者从上一次发出续期请求时算起；过了一个过期时间就视为失去锁，并取消业务",
		"a hash of owner and count: whoever holds the lock may take it once more":                                             "用哈希记录持有者和次数：锁的持有者可以再次加锁",
	}
}

// chineseFaults are what must have happened.
func chineseFaults() map[string]string {
	return map[string]string{
		"the buyer goes away, and the sale ends unsold":                                             "买家离开，这一单没有卖出就结束",
		"the release is held until another has the lock":                                            "解锁命令被扣留，直到别人拿到锁",
		"the second sale, an hour ahead, asks while the first is at work":                           "第一单执行期间，时钟快一小时的第二单来加锁",
		"the write of r1 is on the way while r2 asks, and both write":                               "r1 的写入还在途中时 r2 来加锁，两单都写入",
		"r1 dies while it takes the lock, or right after":                                           "r1 在加锁途中或刚加锁后崩溃",
		"the second sale asks while the first is at work":                                           "第一单执行期间，第二单来加锁",
		"r1 dies while its sale holds the lock":                                                     "r1 的一单持有锁时，r1 崩溃",
		"the first sale fails while its command is on the way, and then the command takes the lock": "第一单失败时命令还在途中，随后这条命令加锁成功",
		"Redis takes the lock for r1, and the reply is lost":                                        "Redis 为 r1 加锁成功，但响应丢失",
		"the second sale asks while the first is at work, and both write":                           "第一单执行期间，第二单来加锁，两单都写入",
		"r1 is stopped while its write is on the way, the other sells, and then the write arrives":  "r1 的写入还在途中时被暂停，另一单卖出，然后写入到达",
		"r1 is cut off from Redis while its sale holds the lock, and the other sells":               "r1 的一单持有锁时与 Redis 断开，另一单卖出",
		"a sale makes a nested call":                                                                "一单发起嵌套调用",
	}
}

// chineseFlaws are why a strategy is broken.
func chineseFlaws() map[string]string {
	return map[string]string{
		"its GET said that the lock was its own; when the DEL arrives, it is another's":  "GET 时锁还是自己的；DEL 到达时已经是别人的",
		"the DEL does not ask whose the lock is":                                         "DEL 不管锁是谁的",
		"by the clock of r2 the lock has expired long ago":                               "按 r2 的时钟，锁早已过期",
		"it has unlocked, so the next holder reads before it has written":                "它已解锁，所以下一个持有者在它写入之前就读了库存",
		"nothing keeps the other out":                                                    "没有什么阻止另一单",
		"the lock is there, and its expiry is not yet":                                   "锁已经有了，过期时间还没有",
		"its lock never has an expiry":                                                   "它的锁没有过期时间",
		"DEL deletes the lock, whosever it is by now":                                    "DEL 直接删除锁，不管这时锁是谁的",
		"no owner, so the first deletes what the second took over":                       "没有持有者标识，所以第一单删除了第二单接管的锁",
		"nobody removes the dead holder's lock":                                          "没有人删除崩溃的持有者的锁",
		"the lock is nobody's, and never expires":                                        "锁不属于任何人，也永不过期",
		"the value does not say whose the lock is, and it never expires":                 "值没有说明锁是谁的，而且永不过期",
		"the value does not say whose the lock is: it stays until it expires":            "值没有说明锁是谁的：锁一直留到过期",
		"it does not give back what it may have: the lock stays until it expires":        "它不释放自己可能持有的锁：锁一直留到过期",
		"nothing keeps the second sale from reading what the first has not yet replaced": "没有什么阻止第二单读到第一单还没有改写的库存",
		"without NX everybody gets the lock":                                             "没有 NX，谁都能加锁成功",
		"each process has a queue of its own":                                            "每个进程各有一个队列",
		"the lock expires after 1s, and the work takes 3s":                               "锁 1 秒后过期，业务要执行 3 秒",
		"the other process has a queue of its own":                                       "另一个进程有自己的队列",
		"a stopped process renews nothing, and the store takes a write from anybody":     "暂停的进程不续期，而存储接受任何人的写入",
		"it has no fencing token":                                                        "它没有隔离令牌",
		"it asks every 20ms":                                                             "它每 20 毫秒询问一次",
		"the holder never learns that its lock has expired":                              "持有者不会得知自己的锁已过期",
		"the nested call finds the lock held, and waits: for its own caller":             "嵌套调用发现锁被占用，于是等待：等的是自己的外层调用",
		"the nested call stands in the queue behind its own caller":                      "嵌套调用在队列里排在自己的外层调用后面",
	}
}

// chineseReasons are why a strategy holds.
func chineseReasons() map[string]string {
	return map[string]string{
		"the lock is given back all the same":                             "锁照样会释放",
		"the script compares when it arrives":                             "脚本到达时才比较",
		"only durations are measured by the own clock":                    "自己的时钟只用来测量时长",
		"it still holds the lock, so the other waits":                     "它仍然持有锁，所以另一单等待",
		"the write itself looks at the stock":                             "写入时会再看库存",
		"there is no moment between the two":                              "两者之间没有空隙",
		"the value itself is the expiry":                                  "值本身就是过期时刻",
		"a lock that never expires is never another's":                    "永不过期的锁不会变成别人的",
		"the first finds that the lock is another's, and leaves it alone": "第一单发现锁是别人的，就不动它",
		"v4's lock": "用的是 v4 的锁",
		"the first renews its lock, so the second waits":                      "第一单给锁续期，所以第二单等待",
		"the lock expires; then the other gets it":                            "锁过期后，另一单就能拿到",
		"the other finds the expiry in the past, and takes the lock over":     "另一单发现锁已过期，于是接管",
		"its second command was never sent":                                   "它的第二条命令没有发出",
		"the lock that nobody has expires":                                    "没有人持有的锁会过期",
		"it gives back what it may have: the value is the owner":              "它释放自己可能持有的锁：值就是持有者标识",
		"it gives back what it may have":                                      "它释放自己可能持有的锁",
		"the second sale waits until the first has written":                   "第二单等到第一单写入之后",
		"both sales are in one process, so its queue is enough":               "两单在同一个进程里，进程内队列就够了",
		"one script reads and writes":                                         "一个脚本完成读和写",
		"the second write is refused, and its sale reads again":               "第二次写入被拒绝，这一单重新读",
		"its lock never expires":                                              "它的锁永不过期",
		"the holder renews its lock":                                          "持有者给锁续期",
		"the store has seen the next holder's token, and refuses the old one": "存储见过下一个持有者的令牌，拒绝旧的",
		"it asks for a place in the queue, and is told when it is its turn":   "它在队列里占一个位置，轮到时会收到通知",
		"the holder knows when its lock can have expired, and stops":          "持有者知道锁何时可能已过期，并停止执行",
		"the nested call has the same owner, and is counted":                  "嵌套调用的持有者标识相同，只增加次数",
		"the process knows that the owner has the lock":                       "进程知道这个持有者已有锁",
		"nobody ever waits":                                                   "谁都不需要等待",
	}
}

// chineseExceptions are why a lab is not for a strategy.
func chineseExceptions() map[string]string {
	return map[string]string{
		"there is no lock that the other would wait for":                          "没有让另一单等待的锁",
		"its lock never expires, so it never changes hands before the DEL":        "它的锁永不过期，所以 DEL 之前不会易主",
		"a sale sends no release when nobody waits":                               "没有人等待时，下单不发送解锁命令",
		"its nodes are not behind the proxy":                                      "它的节点不经过代理",
		"its lock changes hands by the client's clock":                            "它的锁按客户端的时钟易主",
		"there is no lock that one alone holds":                                   "没有由一单独占的锁",
		"it keeps no other process out":                                           "它不阻止别的进程",
		"the witness does not see its nodes: it cannot tell that the other waits": "见证看不到它的节点，无法得知另一单在等待",
		"the dead holder leaves nothing that the other would wait for":            "崩溃的持有者没有留下让另一单等待的东西",
		"there is no lock in Redis":                                               "Redis 里没有锁",
		"everybody gets the lock at any time":                                     "任何时候谁都能加锁成功",
		"see commit-after-unlock":                                                 "见 commit-after-unlock",
		"there is no lock":                                                        "没有锁",
		"its lock never expires: the other waits":                                 "它的锁永不过期：另一单会等待",
		"it has unlocked by then: see commit-after-unlock":                        "这时它已解锁：见 commit-after-unlock",
		"the witness does not see its nodes":                                      "见证看不到它的节点",
		"nobody waits for another process":                                        "没有人等待别的进程",
		"this lab says nothing about it":                                          "这个实验没有涉及它",
	}
}
