package witness_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// ledgerEntry adds what the ledger says about a sale at the end, and the code that its buyer was answered.
func (s *eventScript) ledgerEntry(ms int, sale string, kind witness.Kind, code string) {
	owner := "distributedLock:" + sale
	*s = append(*s,
		witness.Event{Kind: witness.KindAsks, Replica: witness.ReplicaOf(sale), Sale: sale, Owner: owner, Sent: at(ms), Replied: at(ms)},
		witness.Event{Kind: kind, Replica: witness.ReplicaOf(sale), Owner: owner, Code: code, Sent: at(ms + 1), Replied: at(ms + 1)})
}

// jobRun adds a run of a job's tick.
func (s *eventScript) jobRun(from, to int, name string, tick int) {
	s.moment(from, witness.KindRunBegins, name)
	(*s)[len(*s)-1].Tick = tick
	s.moment(to, witness.KindRunEnds, name)
	(*s)[len(*s)-1].Tick = tick
}

func (s *eventScript) tick(ms int, kind witness.Kind, tick int) {
	*s = append(*s, witness.Event{Kind: kind, Tick: tick, Sent: at(ms), Replied: at(ms)})
}

// replicaEvent adds an event of a replica.
func (s *eventScript) replicaEvent(ms int, kind witness.Kind, replica string) {
	*s = append(*s, witness.Event{Kind: kind, Replica: replica, Sent: at(ms), Replied: at(ms)})
}

func TestLedgerAndJobFindings(t *testing.T) {
	for name, test := range map[string]struct {
		play func(*eventScript)
		want []string
	}{
		"buyers who were told the truth": {
			play: func(s *eventScript) {
				s.ledgerEntry(0, "r1#1", witness.KindOrderBooked, "")
				s.ledgerEntry(10, "r1#2", witness.KindOrderMissing, "lock_timeout")
				*s = append(*s, witness.Event{Kind: witness.KindOrderMissing, Replica: "r2", Code: "redis_unavailable", Sent: at(20), Replied: at(20)})
			},
		},
		"buyers in doubt": {
			play: func(s *eventScript) {
				s.ledgerEntry(0, "r1#1", witness.KindOrderBooked, "outcome_unknown")
				s.ledgerEntry(10, "r1#2", witness.KindOrderMissing, "outcome_unknown")
			},
			want: []string{
				"r1#1's buyer was left in doubt; the ledger has the order", "r1#2's buyer was left in doubt; the ledger has no such order",
			},
		},
		"buyers who were told wrong": {
			play: func(s *eventScript) {
				s.ledgerEntry(0, "r1#1", witness.KindOrderBooked, "redis_unavailable")
				s.ledgerEntry(10, "r1#2", witness.KindOrderMissing, "")
				*s = append(*s, witness.Event{Kind: witness.KindOrderMissing, Replica: "r2", Sent: at(20), Replied: at(20)})
			},
			want: []string{
				"r1#1 was sold, though its buyer was told that it was not",
				"r1#2 was not sold, though its buyer was told that it was: the ledger has no such order",
				"a sale at r2 was not sold, though its buyer was told that it was: the ledger has no such order",
			},
		},
		"a command that was sent twice, and refused for itself": {
			play: func(s *eventScript) {
				s.moment(0, witness.KindAsks, "r1#1")
				s.command(1, 2, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused, TTL: millis(60_000)})
				s.replicaEvent(3, witness.KindCommandResent, "r1")
				s.moment(1000, witness.KindEnds, "r1#1")
				s.moment(1001, witness.KindAsks, "r2#1")
				s.command(1002, 1003, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused, TTL: millis(60_000)})
				s.moment(1501, witness.KindEnds, "r2#1")
			},
			want: []string{"r1#1 waited for 1.0 s for a lock that it held itself", "r2#1 waited for 500 ms behind r1#1, in vain"},
		},
		"a command that was sent twice, and counted twice": {
			play: func(s *eventScript) {
				s.moment(0, witness.KindAsks, "r1#1")
				s.command(1, 2, "r1#1", witness.Command{Verb: witness.Takes, Outcome: witness.Again, TTL: millis(60_000)})
				s.moment(3, witness.KindObtains, "r1#1")
				s.replicaEvent(3, witness.KindCommandResent, "r1")
				s.removes(5, "r1#1", witness.Again, false)
				s.moment(1001, witness.KindAsks, "r2#1")
				s.command(1002, 1003, "r2#1", witness.Command{Verb: witness.Takes, Outcome: witness.Refused, TTL: millis(60_000)})
				s.moment(1501, witness.KindEnds, "r2#1")
			},
			want: []string{"r2#1 waited for 500 ms behind r1#1, in vain"},
		},
		"a tick that is run once, a tick that is left out": {
			play: func(s *eventScript) {
				s.tick(0, witness.KindTickBegins, 1)
				s.jobRun(1, 1100, "r1#1", 1)
				s.tick(1000, witness.KindTickBegins, 2)
				s.tick(1500, witness.KindTickBegins, 3)
				s.jobRun(1501, 1600, "r2#1", 3)
			},
		},
		"a tick that is run twice, a tick that is missed, and runs beside each other": {
			play: func(s *eventScript) {
				s.jobRun(1, 100, "r1#1", 1)
				s.jobRun(200, 1100, "r2#1", 1)
				s.jobRun(1001, 1201, "r1#2", 2)
				s.tick(1500, witness.KindTickMissed, 3)
			},
			want: []string{"r2#1 ran tick 1, and so did r1#1", "r2#1 and r1#2 were in the critical section together for 99 ms", "nobody ran tick 3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s eventScript
			test.play(&s)
			s.moment(1602, "", "") // the end of the record
			if got := sentences(witness.Examine(s)); !slices.Equal(got, test.want) {
				t.Errorf("got findings\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

// A node's name is translated; the Redis with the stock is called Redis.
func TestFaultSentenceNamesNode(t *testing.T) {
	for node, want := range [][2]string{{"r1 is cut off from Redis", "r1 与 Redis 断开"}, {"r1 is cut off from node 1", "r1 与节点 1 断开"}} {
		e := witness.Event{Kind: witness.KindCutOff, Replica: "r1", Node: node}
		if got := [2]string{e.Sentence(language.English), e.Sentence(language.Chinese)}; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// faultsAndTicks returns events of a job, of Redis and of replicas.
func faultsAndTicks() (s eventScript) {
	s.tick(0, witness.KindTickBegins, 1)
	s.jobRun(1, 100, "r1#1", 1)
	s.jobRun(2, 99, "r2#1", 1)
	for i, kind := range []witness.Kind{witness.KindRedisHangs, witness.KindRedisUnreachable, witness.KindRedisReachable} {
		s.tick(200+i, kind, 0)
	}
	s.replicaEvent(300, witness.KindReplyHeld, "r1")
	s.replicaEvent(301, witness.KindCommandResent, "r2")
	s.tick(400, witness.KindTickMissed, 2)
	return s
}

// An event of Redis has a line across the trace, and so has a tick; a run is drawn as a sale in the critical section.
func TestTraceDrawsFaultsAndTicks(t *testing.T) {
	want := `     r1#1     r2#1   Redis
  1  ┄┄┄┄┄ tick 1 ┄┄┄┄┄┄
                       ◷
  2  ○                 │   r1#1 runs the job
  3  ┃        ○        │   r2#1 ran tick 1, and so did r1#1
  4  ┃        ○        │   r2#1 has run the job
  5  ○                 │   r1#1 has run the job
  6  ┄┄┄ Redis hangs ┄┄┄
                       ◷   Redis hangs: commands wait, and time goes on
  7  ┄┄ Redis is gone ┄┄
                       ◷   every connection to Redis ends, and new ones are refused
  8  ┄┄ Redis is back ┄┄
                       ◷   Redis can be reached again
  9  ○                 │   Redis has executed a command of r1, and the reply is held
 10           ○        │   Redis executes a command of r2 twice: the first reply was lost
 11                    ◷   nobody ran tick 2
`
	if got := witness.Examine(faultsAndTicks()).Trace(language.English).Sequence(); got != want {
		t.Errorf("got trace\n%s\nwant\n%s", got, want)
	}
}

// A job that computes a cached value is drawn as a cache, with the replica that was refused.
func TestTraceDrawsCache(t *testing.T) {
	var s eventScript
	s.tick(0, witness.KindTickBegins, 1)
	s.jobRun(1, 100, "r1#1", 1)
	s.moment(2, witness.KindLockRefused, "r3#1")
	s.jobRun(3, 99, "r2#1", 1)
	for i := range s {
		s[i].Cache = true
	}
	for in, want := range map[language.Language]string{
		language.English: `     r1#1     r3#1     r2#1   Redis
  1  ┄┄┄┄┄┄┄┄┄ expired ┄┄┄┄┄┄┄┄┄┄
                                ◷   the cached value expires
  2  ○                          │   r1#1 computes the value
  3  ┃        ○                 │   r3#1 finds the lock held, and does not compute
  4  ┃                 ○        │   r2#1 computes the value, and so does r1#1
  5  ┃                 ○        │   r2#1 has computed the value
  6  ○                          │   r1#1 has computed the value
`,
		language.Chinese: `     r1#1     r3#1     r2#1   Redis
  1  ┄┄┄┄┄┄┄┄┄┄ 值过期 ┄┄┄┄┄┄┄┄┄┄
                                ◷   缓存的值过期
  2  ○                          │   r1#1 计算这个值
  3  ┃        ○                 │   r3#1 发现锁被占用，不计算
  4  ┃                 ○        │   r2#1 计算这个值时，r1#1 也在计算
  5  ┃                 ○        │   r2#1 计算完毕
  6  ○                          │   r1#1 计算完毕
`,
	} {
		if got := witness.Examine(s).Trace(in).Sequence(); got != want {
			t.Errorf("got trace\n%s\nwant\n%s", got, want)
		}
	}
}

// In Chinese, only names are in English. A Chinese character is two columns wide.
func TestTraceDrawsFaultsAndTicksInChinese(t *testing.T) {
	want := `     r1#1     r2#1   Redis
  1  ┄┄ 第 1 个 tick ┄┄┄
                       ◷
  2  ○                 │   r1#1 运行任务
  3  ┃        ○        │   第 1 个 tick 的任务，r2#1 运行了，r1#1 也运行了
  4  ┃        ○        │   r2#1 运行完毕
  5  ○                 │   r1#1 运行完毕
  6  ┄┄┄ Redis 卡住 ┄┄┄┄
                       ◷   Redis 卡住：命令等待，时间照常流逝
  7  ┄┄┄ Redis 断开 ┄┄┄┄
                       ◷   与 Redis 的连接全部断开，新的连接被拒绝
  8  ┄┄┄ Redis 恢复 ┄┄┄┄
                       ◷   又能连上 Redis 了
  9  ○                 │   Redis 执行了 r1 的一条命令，响应被扣住
 10           ○        │   Redis 把 r2 的一条命令执行了两次：第一次的响应丢失
 11                    ◷   第 2 个 tick 没有实例运行任务
`
	if got := witness.Examine(faultsAndTicks()).Trace(language.Chinese).Sequence(); got != want {
		t.Errorf("got trace\n%s\nwant\n%s", got, want)
	}
}

// If several jobs begin at the same moment, the line of each becomes thick only from the job's own step on.
func TestTraceDrawsJobsOfOneMomentFromTheirOwnStep(t *testing.T) {
	var s eventScript
	s.tick(0, witness.KindTickBegins, 1)
	s.jobRun(1, 100, "r1#1", 1)
	s.jobRun(1, 99, "r2#1", 1)
	want := `     r1#1     r2#1   Redis
  1  ┄┄┄┄┄ tick 1 ┄┄┄┄┄┄
                       ◷
  2  ○                 │   r1#1 runs the job
  3  ┃        ○        │   r2#1 ran tick 1, and so did r1#1
  4  ┃        ○        │   r2#1 has run the job
  5  ○                 │   r1#1 has run the job
`
	if got := witness.Examine(s).Trace(language.English).Sequence(); got != want {
		t.Errorf("got trace\n%s\nwant\n%s", got, want)
	}
}
