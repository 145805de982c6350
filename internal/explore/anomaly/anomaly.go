// Package anomaly names what can go wrong with a lock: the things that the explorer looks for.
package anomaly

import (
	"lockstep/internal/language"
	"lockstep/internal/lock/strategy"
)

// Anomaly is one kind of thing that goes wrong.
type Anomaly string

// The anomalies, in the order in which they are looked for.
const (
	TwoHolders     Anomaly = "two-holders"
	LostUpdate     Anomaly = "lost-update"
	ForeignRelease Anomaly = "foreign-release"
	LeftBehind     Anomaly = "left-behind"
	Stuck          Anomaly = "stuck"
	Untold         Anomaly = "untold"
	GoroutineLeak  Anomaly = "goroutine-leak"
	FalseWord      Anomaly = "false-word"
	TokenOrder     Anomaly = "token-order"
	Progress       Anomaly = "progress"
	Idle           Anomaly = "idle"
	Starved        Anomaly = "starved"
)

// All lists them.
func All() []Anomaly {
	return []Anomaly{
		TwoHolders, LostUpdate, ForeignRelease, LeftBehind, Stuck, Untold, GoroutineLeak, FalseWord, TokenOrder, Progress, Idle, Starved,
	}
}

// Says tells what goes wrong.
func (a Anomaly) Says() language.Text { return a.words().says }

// Task tells what to make a lock do, after the lock's name.
func (a Anomaly) Task() language.Text { return a.words().task }

// words are how an anomaly is told.
type words struct{ says, task language.Text }

func (a Anomaly) words() words {
	both := language.Both
	switch a {
	case TwoHolders:
		return words{
			says: both("two sales believe at the same time that they hold the lock", "两单同时认为自己持有锁"),
			task: both("let two in at the same time", "放两单同时进来"),
		}
	case LostUpdate:
		return words{
			says: both("a sale writes over the update of another sale", "一单覆盖了另一单的更新"),
			task: both("lose an update of the stock", "丢失一次库存更新"),
		}
	case ForeignRelease:
		return words{
			says: both("a sale removes, overwrites or prolongs a lock that another sale holds", "一单删除、覆盖或延长了另一单持有的锁"),
			task: both("remove another’s lock", "删掉别人的锁"),
		}
	case LeftBehind:
		return words{
			says: both("a lock stays for ever, although no sale holds it", "没有一单持有锁，锁却永远残留"),
			task: both("leave a lock behind for ever", "留下一把永远没人清除的锁"),
		}
	case Stuck:
		return words{
			says: both("a sale can never go on", "一单再也无法继续"),
			task: both("block a sale for ever", "让一单永远无法继续"),
		}
	case Untold:
		return words{
			says: both("a sale has lost the lock and works on, and nothing tells it", "一单丢了锁还在继续执行，自己并不知情"),
			task: both("lose the lock without telling its holder", "丢了锁却不告诉持有者"),
		}
	case GoroutineLeak:
		return words{
			says: both("a goroutine still runs after its sale has ended", "一单已经结束，它的 goroutine 还在运行"),
			task: both("leak a goroutine", "泄漏一个 goroutine"),
		}
	case FalseWord:
		return words{
			says: both("Unlock, or an error, says what is not so", "解锁或报错所说与事实不符"),
			task: both("say what is not so", "说出与事实不符的话"),
		}
	case TokenOrder:
		return words{
			says: both("a later holder's fencing token is not larger, or a nested call's is another one", "后一个持有者的隔离令牌没有增大，或嵌套调用的令牌与外层不同"),
			task: both("give tokens out of order", "发出次序不对的令牌"),
		}
	case Progress:
		return words{
			says: both("a sale fails although nothing went wrong", "没出任何故障，一单却失败了"),
			task: both("fail a sale although nothing went wrong", "没出故障却让一单失败"),
		}
	case Idle:
		return words{
			says: both("nobody living holds the lock, and waiters get it only when time frees it", "活着的参与者都没有持有锁，等待者只能等时间把它释放"),
			task: both("leave everybody waiting for time", "让所有人干等时间"),
		}
	case Starved:
		return words{
			says: both("a sale is overtaken more than --overtakes times by sales that asked after it", "一单被后来的各单超过，次数多于 --overtakes"),
			task: both("starve a sale", "饿死一单"),
		}
	default:
		return words{}
	}
}

// Applies reports whether a strategy promises that this does not happen. A strategy without a lock keeps nobody out, and only a lock
// in Redis can be lost there.
func (a Anomaly) Applies(s strategy.Strategy) bool {
	switch a {
	case LostUpdate, Stuck, GoroutineLeak, Progress:
		return true
	case Starved:
		return s.Capabilities.InOrder
	case TwoHolders:
		return s.Scope != strategy.Nobody
	default:
		return s.Scope == strategy.Everybody
	}
}

// ByName reports whether it is looked for only where somebody names it.
func (a Anomaly) ByName() bool { return a == Starved }

// Found is an anomaly that a schedule has shown, in words.
type Found struct {
	Anomaly Anomaly
	Says    string
}
