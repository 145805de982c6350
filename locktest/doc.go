// Package locktest explores a lock in Redis, as it is, in a test of your own: its code, its client, its goroutines and timers, in every
// order of their commands and under every fault that you name. It is to locks what net/http/httptest is to handlers:
//
//	func TestLock(t *testing.T) {
//		locktest.Explore(t, locktest.Config{Key: "orders", Faults: "lost-reply=1"}, func(p locktest.Process) (locktest.Lock, error) {
//			client := redis.NewClient(&redis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1})
//			p.Cleanup(func() { client.Close() })
//			lock := mylock.New(client, "orders")
//			return locktest.Adapter[*mylock.Lease]{Acquire: lock.Acquire, Release: (*mylock.Lease).Release}, nil
//		})
//	}
//
// An [Adapter] makes a [Lock] of a lock whose methods have other names, and says what else a lock may tell its holder. Any client that
// takes a dialer will do: go-redis, rueidis (DialCtxFn), redigo (DialContextFunc).
//
// # What happens
//
// A few actors (A, B) call Lock once, and Unlock if they got the lock. Each is a process, with a lock of its own that your function opens;
// or several are goroutines of one, with Config.Together. Redis is simulated at the other end of the connections, and holds every command
// back. When everybody waits, and only then, one thing happens: a command takes effect and is answered, an actor makes its call, time
// passes to the next timer or expiry, or a fault of Config.Faults happens ([Faults] explains them). Each step is followed by a
// search for [Anomalies]. All this happens in a bubble of testing/synctest, so hours take no time.
//
// All orders are run, the shortest first. States that differ only in when they were reached, or in random values, count as one. A
// test fails with the anomaly, the shortest schedule that shows it, its drawing, and the line that replays it:
//
//	locktest: left-behind: the lock of A stays for 1s, and nobody holds it
//
//	     A        B      Redis
//	  1  ○                 │   A: Lock; A sends set orders A1 px 1000 nx
//	  2  ├──── ✗ ─────────▶│   set orders A1 px 1000 nx → OK
//	  …
//	Again: locktest.Replay(t, locktest.Config{Key: "orders", Faults: "lost-reply=1"}, "A:Lock A:SET/lost", open)
//
// Here Lock has failed, as the reply was lost, but the lock is there: undo it. An anomaly that you accept is named in Config.Allow.
//
// # What is assumed
//
// Code that has seen the same, at the same distances in time, does the same. The clock of each run begins alike, and so does crypto/rand.
// Where the code leaves something to chance, by math/rand or a select of two channels that are ready, a schedule is repeated until it
// leads where it led before. A process that has done the same forty times is taken to do so for ever. A process that crashes or pauses
// (its holder then believes what it believed) is cut off from the others to the end of the schedule.
//
// A test never passes silently. It fails if Config.Runs or Config.Time were used up before all was seen (Config.Depth says how far is
// enough), if a choice could not be repeated, if a command is unknown to the simulated Redis, if no call of Lock ever succeeded, if
// nothing has written Config.Key, and if a lock changed so that nobody can say whose it is.
//
// # What helps
//
// What is sent while a lock is opened, such as SCRIPT LOAD, takes effect at once, and is no step. Let the client send a command once
// (MaxRetries: -1), or without a pause (MinRetryBackoff: -1): a random pause cannot be repeated. Let the lock expire after a few of its
// pauses: 1 s, if it asks every 100 ms. Do not call t.Parallel. Nothing may leave the bubble: no other server, no goroutine that was
// started before. Take small steps: one fault at a time, then two. [UsualFaults] is where to begin, with a subtest for each.
package locktest
