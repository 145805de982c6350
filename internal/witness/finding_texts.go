package witness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lockstep/internal/anomaly"
	"lockstep/internal/language"
)

// findingText has the texts of a kind of finding.
type findingText struct {
	kind          FindingKind     // kind that the texts are for
	anomaly       anomaly.Anomaly // anomaly in package anomaly that the finding shows; empty: none
	title         language.Text   // title on the page; empty: the title of the anomaly, or the page never shows the kind
	sentence      language.Text   // sentence about a finding; words in braces are replaced by its fields, see Sentence
	cacheSentence language.Text   // sentence for a job that computes a cached value; empty: sentence is used
	explanation   language.Text   // explanation for readers who know nothing about locks; empty: the sentence is enough
	isCost        bool            // the finding is not a fault, but a cost of the lock
}

// findingTexts returns the texts of all kinds, in the order in which findings of the same moment are listed.
func findingTexts() []findingText {
	both := language.Both
	queuePlace := both(
		"A process keeps its place in the queue by asking again. A dead one no longer asks: its place expires, and the next one has its turn.",
		"排队的进程要不断重新请求，才能保住位置。崩溃的进程不再请求：它的位置过期后，就轮到下一个。")
	return []findingText{
		{kind: RemovedLock, anomaly: anomaly.ForeignRelease, sentence: both("{by} removed {of}'s lock", "{by} 删除了 {of} 的锁"), explanation: both(
			"DEL does not ask whose the lock is. The next sale may now come in while the other is still at work.",
			"DEL 不看锁是谁的。别人还在执行，下一单就能进入临界区。")},
		{kind: OverwroteLock, anomaly: anomaly.TwoHolders, title: both("Lock overwritten", "锁被覆盖"),
			sentence: both("{by} wrote over {of}'s lock", "{by} 覆盖了 {of} 的锁"), explanation: both(
				"The lock was taken over although its holder was still at work.",
				"持有者还在执行，锁就归了别人。")},
		{kind: ExtendedLock, anomaly: anomaly.ForeignRelease, title: both("Foreign renewal", "给别人的锁续期"),
			sentence: both("{by} extended {of}'s lock", "{by} 给 {of} 的锁续期"), explanation: both(
				"An expiry was set on a lock that was another's.",
				"给别人的锁设置了过期时间。")},
		{kind: RedisLostLock, anomaly: anomaly.TwoHolders, title: both("Redis forgot the lock", "Redis 丢失了锁"),
			sentence: both("{by} forgot {of}'s lock", "{by} 丢失了 {of} 的锁"), explanation: both(
				"Redis lost the lock while its holder was at work. Now two sales can be in the critical section.",
				"持有者还在执行，Redis 丢失了锁。现在可能有两单同时进入临界区。")},
		{kind: ExpiredAtWork, anomaly: anomaly.TwoHolders, title: both("Lock expired during the work", "没做完锁就过期"),
			sentence: both(
				"{by}'s lock expired after {for}, while {by} was still at work",
				"{by} 的锁在 {for}后过期，而 {by} 还在执行"), explanation: both(
				"The work took longer than the lock's expiry. Redis removed the lock; the sale does not know that, and goes on.",
				"业务耗时超过了锁的过期时间。Redis 删除了锁，这一单不知道，还在继续执行。")},
		{kind: Overlapped, anomaly: anomaly.TwoHolders,
			sentence:      both("{by} and {of} were in the critical section together for {for}", "{by} 和 {of} 同时在临界区里，共 {for}"),
			cacheSentence: both("{by} and {of} computed the value at the same time, for {for}", "{by} 和 {of} 同时计算这个值，共 {for}"), explanation: both(
				"Each believes that it is alone. If both read the same stock, one of the two updates is lost.",
				"双方都以为只有自己。如果读到同一个库存，其中一次扣减就会丢失。")},
		{kind: RefusedToken, anomaly: anomaly.TwoHolders, title: both("Stale token refused", "旧令牌被拒绝"),
			sentence: both("the store refused {by}: its token {token} < {seen}", "存储拒绝了 {by}：它的令牌 {token} < {seen}"), explanation: both(
				"A later holder has shown the store its larger token, by a read or a write. So the store refuses this one: nothing is lost.",
				"后来的持有者读或写的时候，已经向存储出示过更大的令牌。所以存储拒绝这一单：什么也没有丢失。")},
		{kind: LostUpdate, anomaly: anomaly.LostUpdate, sentence: both(
			"{by} wrote stock {wrote}: it had read {read} before {of} wrote, so {of}'s update is lost",
			"{by} 写入库存 {wrote}：它读到 {read} 之后 {of} 写入过，所以 {of} 的更新丢失"), explanation: both(
			"Both read the same stock, and both wrote one less. Two were sold, and the stock fell by one.",
			"双方读到同一个库存，都写入减一后的值。卖出两件，库存只减了一。")},
		{kind: WroteLate, anomaly: anomaly.LostUpdate, title: both("Late write", "迟到的写入"),
			sentence: both("{by} wrote {for} after its lock had ended", "{by} 的锁失效 {for}之后，{by} 才写入"), explanation: both(
				"The sale wrote though the lock was no longer its own.",
				"锁已经不是它的了，它还是写入了。")},
		{kind: WaitedLong, title: both("Waited", "等待"), isCost: true,
			sentence: both("{by} waited for {for} behind {of}", "{by} 排在 {of} 后面等了 {for}")},
		{kind: WaitedInVain, anomaly: anomaly.Stuck, title: both("Waited in vain", "没有等到锁"),
			isCost: true, sentence: both("{by} waited for {for} behind {of}, in vain", "{by} 排在 {of} 后面等了 {for}，没有等到")},
		{kind: PolledOften, anomaly: anomaly.Polling, isCost: true,
			sentence: both("{by} asked for the lock {times} times in vain", "{by} 尝试加锁 {times} 次，都没有成功")},
		{kind: LeftBehind, anomaly: anomaly.LeftBehind, sentence: both(
			"{by} is gone, and its lock stays: it never expires, and no sale removes it",
			"{by} 已经不在，它的锁残留：永不过期，也没有哪一单会删除它"), explanation: both(
			"Until somebody removes the key by hand, nobody can buy.",
			"在有人手动删除这个键之前，谁都买不了。")},
		{kind: WaitsForItself, anomaly: anomaly.SelfDeadlock,
			sentence: both("{by} waited for {for} for a lock that it held itself", "{by} 等自己持有的锁，等了 {for}"), explanation: both(
				"A nested call asked for the lock that its own sale holds. A lock that is not reentrant makes it wait until the lock expires: "+
					"a self-deadlock until the expiry. Then the nested call gets the lock, and the outer one works on without it. "+
					"A lock that never expires makes it wait forever.",
				"嵌套调用要加的锁，这一单自己已经持有。锁不可重入，就只能等自己的锁过期（自死锁）。过期后嵌套调用加锁成功，外层调用没有锁，却继续执行。锁若永不过期，就永远等下去。")},
		{kind: LearnedOfLoss, title: both("Learned of the loss", "得知锁丢失"),
			isCost: true, sentence: both("{by} was told that it had lost the lock", "{by} 得知自己的锁丢失"), explanation: both(
				"Its renewal found the lock gone, or its time was over: the context of its work ended. Only a token (v7) stops "+
					"a write that is already on its way.",
				"续期时发现锁已经不在，或者有效时间已过：业务的 context 被取消。这时已经发出的写入，只有令牌（v7）拦得住。")},
		{kind: Unanswered, anomaly: anomaly.Unanswered,
			sentence: both("{by} asked for the lock, had no reply for {for}, and failed", "{by} 请求加锁，{for}没有响应，于是失败")},
		{kind: SoldDespiteError, sentence: both("{by} was sold, though its buyer was told that it was not", "{by} 卖出了，买家却被告知没有买到")},
		{kind: DoubleSale, anomaly: anomaly.DoubleSale, sentence: both("{by} was sold twice: the ledger has more sales than buyers have orders",
			"{by} 又卖出一次：账本里卖出的单数多于买家的订单")},
		{kind: NeverBooked, sentence: both(
			"{by} was not sold, though its buyer was told that it was: the ledger has no such order",
			"{by} 没有卖出，买家却被告知买到了：账本里没有这个订单")},
		{kind: InDoubtBooked, sentence: both("{by}'s buyer was left in doubt; the ledger has the order", "{by} 的买家无法确定自己是否买到；账本里有这个订单")},
		{kind: InDoubtUnbooked, sentence: both(
			"{by}'s buyer was left in doubt; the ledger has no such order",
			"{by} 的买家无法确定自己是否买到；账本里没有这个订单")},
		{kind: RanTickTwice, sentence: both("{by} ran tick {tick}, and so did {of}", "第 {tick} 个 tick 的任务，{by} 运行了，{of} 也运行了"),
			cacheSentence: both("{by} computes the value, and so does {of}", "{by} 计算这个值时，{of} 也在计算")},
		{kind: MissedTick, sentence: both("nobody ran tick {tick}", "第 {tick} 个 tick 没有实例运行任务"),
			cacheSentence: both("nobody computed the value", "没有实例计算这个值")},
		{kind: Overtaken, anomaly: anomaly.Starved, title: both("Overtaken", "被插队"),
			isCost: true, sentence: both(
				"{by} was overtaken by {times} sales that asked after it",
				"{by} 被后来的 {times} 个请求插队")},
		{kind: LockIdle, anomaly: anomaly.Idle, title: both("Lock idle while a sale waits", "没人持有，却有人在等"),
			isCost: true, sentence: both(
				"the critical section was empty for {for} after {of}, while {by} waited",
				"{of} 之后，临界区空了 {for}，而 {by} 在等待")},
		{kind: RenewedAfterEnd, anomaly: anomaly.GoroutineLeak, title: both("Renewed for nobody", "无主续期"),
			sentence: both(
				"{by}'s lock was renewed after {of} had ended: {times} times",
				"{of} 结束之后，{by} 的锁又续期了 {times} 次")},
		{kind: DiedHolding, anomaly: anomaly.Idle, title: both("Died with the lock", "持锁时崩溃"),
			isCost: true, sentence: both(
				"{by} died with the lock, and {of} waited {for} more",
				"{by} 崩溃时还持有锁，{of} 又等了 {for}"), explanation: both(
				"A dead process gives nothing back. Its lock stays until it expires, and the next one waits for that.",
				"进程崩溃，锁没有释放。下一单要等锁过期才能进入临界区。")},
		{kind: DiedInQueue, anomaly: anomaly.Idle, title: both("Died in the queue", "排队时崩溃"),
			isCost: true, sentence: both(
				"{by} died in the queue and was passed over: nobody used its turn for {for}, then {of} entered",
				"{by} 在队列里崩溃，被跳过：轮到它时白等了 {for}，然后 {of} 进入"), explanation: queuePlace},
		{kind: QueuePlaceExpired, title: both("Died in the queue", "排队时崩溃"),
			isCost: true, sentence: both(
				"{by} died in the queue, and its place expired before its turn: {of} entered at once",
				"{by} 在队列里崩溃，轮到它之前位置已经过期：{of} 直接进入"), explanation: queuePlace},
		{kind: EnteredOccupied, isCost: true, sentence: both("{by} entered while {of} was at work", "{by} 进入临界区时，{of} 还在执行")},
		{kind: ReplicaPaused, isCost: true, sentence: both("{by}'s replica was stopped", "{by} 所在的实例被暂停")},
		{kind: ReplicaDied, isCost: true, sentence: both("{by}'s replica died", "{by} 所在的实例崩溃")},
	}
}

// heading returns the title of a kind; empty if the page never shows it.
func (t findingText) heading() language.Text {
	title := t.anomaly.Row().Title.In(language.English)
	if title == "" || t.title != (language.Text{}) {
		return t.title
	}
	return language.Both(strings.ToUpper(title[:1])+title[1:], t.anomaly.Row().Title.In(language.Chinese))
}

// Titles returns the titles of the kinds of findings and of faults that the page lists, by kind.
func Titles() map[string]language.Text {
	titles := map[string]language.Text{}
	for _, text := range findingTexts() {
		titles[string(text.kind)] = text.heading()
	}
	for _, h := range eventTexts() {
		titles[string(h.kind)] = h.title
	}
	maps.DeleteFunc(titles, func(_ string, title language.Text) bool { return title == language.Text{} })
	return titles
}

// text returns the texts of a kind.
func (k FindingKind) text() findingText { return findingTexts()[k.rank()] }

// rank returns the position of a kind in the order of findings of the same moment; -1: the kind is unknown.
func (k FindingKind) rank() int {
	return slices.IndexFunc(findingTexts(), func(t findingText) bool { return t.kind == k })
}

// Anomaly returns the anomaly that a finding of this kind shows; empty: none.
func (k FindingKind) Anomaly() anomaly.Anomaly { return k.text().anomaly }

// IsBad reports whether a finding of this kind is a fault, and not only a cost of the lock.
func (k FindingKind) IsBad() bool { return !k.text().isCost }

// Why returns an explanation of a finding for readers who know nothing about locks; empty: the sentence is enough.
func (f Finding) Why(in language.Language) string { return f.Kind.text().explanation.In(in) }

// Sentence returns the sentence about a finding.
func (f Finding) Sentence(in language.Language) string {
	subject, sentence := f.subjectName(in), f.Kind.text().sentence
	if cache := f.Kind.text().cacheSentence; f.Cache && cache != (language.Text{}) {
		sentence = cache
	}
	return strings.NewReplacer(
		"{by} ", withSpaceAfter(subject), "{by}", subject, "{of}", f.Other, "{for}", formatDuration(in, time.Duration(f.Duration)),
		"{token}", fmt.Sprint(f.Token), "{seen}", fmt.Sprint(f.LargerToken), "{tick}", fmt.Sprint(f.Tick),
		"{times}", fmt.Sprint(f.Count), "{read}", fmt.Sprint(f.ReadStock), "{wrote}", fmt.Sprint(f.WrittenStock),
	).Replace(sentence.In(in))
}

// withSpaceAfter returns a name with the space that separates it from the next word. Chinese has no such space.
func withSpaceAfter(name string) string {
	if last, _ := utf8.DecodeLastRuneInString(name); unicode.Is(unicode.Han, last) {
		return name
	}
	return name + " "
}

// withSpaceBefore returns a name with the space that separates it from the word before. Chinese has no such space.
func withSpaceBefore(name string) string {
	if first, _ := utf8.DecodeRuneInString(name); unicode.Is(unicode.Han, first) {
		return name
	}
	return " " + name
}

// subjectName returns the name of Subject in a sentence. Names of sales and replicas are the same in all languages.
func (f Finding) subjectName(in language.Language) string {
	switch {
	case f.Kind == RedisLostLock:
		return localRedisName(in, f.Node)
	case f.Subject == "":
		return language.Both("somebody", "某人").In(in) // a lock was removed by hand
	case f.Subject == ReplicaOf(f.Subject) && f.Kind.isAboutLedger():
		return fmt.Sprintf(language.Both("a sale at %s", "%s 的一单").In(in), f.Subject)
	default:
		return f.Subject
	}
}

// isAboutLedger reports whether a finding compares the ledger with the answers to buyers.
func (k FindingKind) isAboutLedger() bool {
	return slices.Contains([]FindingKind{SoldDespiteError, DoubleSale, NeverBooked, InDoubtBooked, InDoubtUnbooked}, k)
}

// localRedisName returns the name of a Redis in a language.
func localRedisName(in language.Language, node int) string {
	if node == 0 {
		return "Redis"
	}
	return fmt.Sprintf(language.Both("node %d", "节点 %d").In(in), node)
}

// formatDuration returns a duration in milliseconds, or in seconds with one decimal.
func formatDuration(in language.Language, d time.Duration) string {
	if d < time.Millisecond {
		return language.Both("less than 1 ms", "不到 1 毫秒").In(in)
	}
	if d < time.Second {
		return fmt.Sprintf(language.Both("%d ms", "%d 毫秒").In(in), d.Milliseconds())
	}
	return fmt.Sprintf(language.Both("%.1f s", "%.1f 秒").In(in), d.Seconds())
}
