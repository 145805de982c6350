// Package locktest tests locks that are kept in Redis. It runs the real code of a lock, with its client, goroutines and timers, under every
// order in which its commands can take effect, and with the faults that the test allows, such as a lost reply.
//
// A test calls [Explore] with a function that opens the lock:
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
// An [Adapter] makes a [Lock] from functions with other names, and lists what else a lock may tell its holder. Any client that takes a
// dialer can be used: go-redis, rueidis (DialCtxFn) or redigo (DialContextFunc).
//
// # How it works
//
// There are two actors, A and B, or as many as [Config.Actors] says. Each actor calls Lock once, and then Unlock if it obtained the lock.
// By default each actor is a process of its own, with a lock that the function has opened for it; with [Config.Together], all actors but
// the first are goroutines of one process.
//
// A simulated Redis at the other end of the connections holds back every command. Whenever all goroutines are blocked, the search takes one
// step: a command takes effect and is answered, an actor makes its call, time passes to the next timer or expiry, or a fault of
// [Config.Faults] occurs. [Faults] explains the faults. After each step, the state is checked for [Anomalies]. All of this happens in a
// testing/synctest bubble, where waiting takes no time.
//
// The search runs the code again for each schedule, which is one order of the steps, and begins with the shortest. It counts states as the
// same if they differ only in random values or in when they were reached. If a schedule leads to an anomaly, the test fails, and prints the
// schedule, a sequence diagram, and the call that replays it:
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
// Here Lock returned an error because the reply was lost, but Redis had set the lock, and the code did not remove it. A test can accept an
// anomaly by [Config.Allow].
//
// # When a test fails without an anomaly
//
// A test does not pass if it has proved nothing. It fails if
//
//   - [Config.Runs] or [Config.Time] was used up before every schedule was run, up to [Config.Depth] steps;
//   - a choice of the code could not be repeated;
//   - the simulated Redis does not know a command;
//   - no call of Lock succeeded, or nothing wrote [Config.Key].
//
// A fault that the test allows but that never occurred is only logged.
//
// # What is assumed
//
// The code is deterministic: after the same replies and the same delays, it does the same. Every run starts with the same clock and the
// same crypto/rand. Where the code depends on chance, by math/rand or by a select with two ready channels, a schedule is repeated until it
// leads to the same state as before.
//
// A process that repeats the same actions forty times is assumed to repeat them forever. A process that crashes or pauses stays cut off
// until the end of the schedule. If it was paused as the holder, it still believes that it holds the lock.
//
// # Recommendations
//
// Begin with [UsualFaults], in a subtest for each, and combine two faults later. Let the lock expire after a few polling intervals: after 1
// s if it polls every 100 ms.
//
// Configure the client not to retry (MaxRetries: -1), or to retry without a pause (MinRetryBackoff: -1), because a random pause cannot be
// repeated. Commands that are sent while a lock is being opened, such as SCRIPT LOAD, take effect at once and are not steps.
//
// Do not call t.Parallel. The code may use nothing outside the bubble: no other server, and no goroutine that was started before.
package locktest
