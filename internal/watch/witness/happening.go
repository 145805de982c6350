package witness

import (
	"lockstep/internal/explore/trace"
	"lockstep/internal/language"
)

// What happens to Redis itself, or to one command of a replica on its way back. Who does it, notes it.
const (
	KindRedisEnds   Kind = "redis-ends"   // nobody reaches Redis any more
	KindRedisBegins Kind = "redis-begins" // everybody does again
	KindRedisHangs  Kind = "redis-hangs"  // for some time it executes nothing
	KindUnheard     Kind = "unheard"      // a command of the replica is done, and the reply is held
	KindResent      Kind = "resent"       // a command of the replica is done twice: its client has sent it again
)

// happenings are what the steps say of these, and of a scheduled job.
func happenings() map[Kind]language.Text {
	both := language.Both
	return map[Kind]language.Text{
		KindRedisEnds:   both("every connection to Redis ends, and new ones are refused", "与 Redis 的连接全部断开，新的连接被拒绝"),
		KindRedisBegins: both("Redis can be reached again", "又能连上 Redis 了"),
		KindRedisHangs:  both("Redis hangs: commands wait, and time goes on", "Redis 卡住：命令等待，时间照常流逝"),
		KindUnheard:     both("Redis has done a command of %s's, and the reply is held", "Redis 执行了 %s 的一条命令，响应被扣住"),
		KindResent:      both("Redis does a command of %s's twice: the reply to the first was lost", "Redis 把 %s 的一条命令执行了两次：第一次的响应丢失"),
		KindRuns:        both("%s runs the job", "%s 运行任务"),
		KindRan:         both("%s has run it", "%s 运行完毕"),
	}
}

// rules are the lines across a drawing: what happens to everybody.
func rules() map[Kind]language.Text {
	both := language.Both
	return map[Kind]language.Text{
		KindRedisEnds: both("Redis is gone", "Redis 断开"), KindRedisBegins: both("Redis is back", "Redis 恢复"),
		KindRedisHangs: both("Redis hangs", "Redis 卡住"), KindTick: both("tick %d", "第 %d 个 tick"),
	}
}

// happening gives the step of an event that is neither a sale's nor a fault of its replica's, if there is one.
func (d *drawing) happening(event Event) (step trace.Step, is bool) {
	says := happenings()[event.Kind].In(d.in)
	switch event.Kind {
	case KindRedisEnds, KindRedisBegins, KindRedisHangs:
		return trace.Step{Kind: trace.KindTime, Fault: rules()[event.Kind].In(d.in), Says: says}, true
	case KindUnheard, KindResent:
		actor := d.firstOf(event.Replica)
		return trace.Step{Kind: trace.KindWaits, Actor: actor, Says: filled(says, event.Replica)}, actor != ""
	default:
		return d.ofJob(event, says)
	}
}
