// Package locktest tests a Redis lock under every order of its commands and every fault that you name. It runs the real code of the lock,
// with its client, goroutines and timers, inside a test of your own, much as net/http/httptest runs a handler. Begin with [Explore]:
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
// An [Adapter] turns a lock whose methods have other names into a [Lock], and lists what else a lock may tell its holder. Any client that
// takes a dialer can be used: go-redis, rueidis (DialCtxFn), redigo (DialContextFunc).
//
// # How it works
//
// A few actors (A, B) call Lock once, and Unlock if they obtained the lock. Each actor is a process with its own lock, which your function
// opens; with Config.Together, all but the first are goroutines of one process. A simulated Redis at the other end of the connections
// holds back every command. When all goroutines are blocked, and only then, one step is taken: a command takes effect and is answered, an
// actor makes its call, time passes to the next timer or expiry, or a fault of Config.Faults occurs ([Faults] explains them). After each
// step, the state is checked for [Anomalies]. Everything runs in a testing/synctest bubble, so hours of waiting take no time.
//
// All orders are run, the shortest first. States that differ only in when they were reached, or in random values, count as one. A failing
// test prints the anomaly, the shortest schedule that leads to it, a sequence diagram, and the line that replays it:
//
//	locktest: left-behind: the lock of A stays for 1s, and nobody holds it
//
//	     A        B      Redis
//	  1  ○                 │   A: Lock; A sends set orders A ex 1 nx
//	  2  ├────────────────▶│   set orders A ex 1 nx → OK, lost on the way
//	                       │   A, whose connection ends, does not read it; A fails: EOF
//	                       │   [lock: A, for 1s]
//	  ✗  the lock of A stays for 1s, and nobody holds it
//	Again: locktest.Replay(t, locktest.Config{Key: "orders", Faults: "lost-reply=1"}, "A:Lock A:SET/lost", open)
//
// In this example Lock returned an error because the reply was lost, but Redis has set the lock: the code must undo it. List the anomalies
// that you accept in Config.Allow.
//
// # Assumptions
//
// The code under test is deterministic: given the same replies after the same delays, it does the same. Every run starts with the same
// clock and the same crypto/rand. Where the code uses chance (math/rand, or a select with two ready channels), a schedule is repeated until
// it leads to the state that it led to before. A process that repeats the same actions forty times is assumed to repeat them forever. A
// process that crashes or pauses is cut off from the others until the end of the schedule; if it paused as the holder, it still believes
// that it holds the lock.
//
// A test never passes without having tested something. It fails if Config.Runs or Config.Time is used up before every schedule was seen
// (Config.Depth sets how far is enough), if a choice could not be repeated, if the simulated Redis does not know a command, if no call of
// Lock ever succeeded, if nothing wrote Config.Key, and if the lock changed in a way that cannot be attributed to an actor.
//
// # Recommendations
//
// Commands sent while a lock is being opened, such as SCRIPT LOAD, take effect at once and are not steps. Configure the client not to retry
// (MaxRetries: -1), or to retry without a pause (MinRetryBackoff: -1), because a random pause cannot be repeated. Let the lock expire after
// a few polling intervals: 1 s if it polls every 100 ms. Do not call t.Parallel. Nothing may leave the bubble: use no other server, and no
// goroutine that was started before. Begin with [UsualFaults], in a subtest for each; combine two faults later.
package locktest
