// Package redistest tests code that uses Redis. It runs the real code of a handler, a job or a consumer, with its client, goroutines and
// timers, under every order in which its commands can take effect, and with the faults that the test allows, such as a lost reply. The test
// states what must be true:
//
//	func TestSale(t *testing.T) {
//		redistest.Explore(t, redistest.Config{}, redistest.System{
//			Setup: func(r redistest.Redis) { r.Do("SET", "inventory", 2) },
//			Actor: func(p redistest.Process) (func(context.Context) error, error) {
//				client := redis.NewClient(&redis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1})
//				p.Cleanup(func() { client.Close() })
//				handler := shop.New(client)
//				return func(ctx context.Context) error { return post(ctx, handler, "/inventory/sale") }, nil
//			},
//			Check: func(e redistest.End) error {
//				if sold, left := e.Succeeded(), e.Redis.Int("inventory"); left > 2-sold {
//					return fmt.Errorf("%d are sold, and %d of 2 are left", sold, left)
//				}
//				return nil
//			},
//		})
//	}
//
// Any client that takes a dialer can be used: go-redis, rueidis (DialCtxFn) or redigo (DialContextFunc). To test a lock, use package
// locktest, which knows what a lock must do.
//
// # How it works
//
// There are two actors, A and B, or as many as [Config.Actors] says. Each is a process of its own, and calls once the function that
// [System.Actor] returned for it. If the actors differ, [System.Kinds] describes them.
//
// A simulated Redis at the other end of the connections holds back every command. Whenever all goroutines are blocked, the search takes one
// step: a command takes effect and is answered, an actor starts, time passes to the next timer or expiry, or a fault of [Config.Faults]
// occurs. [Faults] explains the faults. All of this happens in a testing/synctest bubble, where waiting takes no time.
//
// [System.Check] is called at the end of each schedule, and [System.Always] after each step. Both see the [Outcome] of each actor: it has
// succeeded, failed, or is in doubt because its process crashed or a reply was lost. The search finds three anomalies without either
// function: an actor that never returns ([Stuck]), a process that sends command after command without a pause ([Busy]), and a goroutine
// that outlives the run ([GoroutineLeak]).
//
// The search runs the code again for each schedule, which is one order of the steps, and begins with the shortest. It counts states as the
// same if they differ only in random values or in when they were reached. If a schedule leads to an anomaly, the test fails, and prints the
// schedule, a sequence diagram, and the call that replays it:
//
//	redistest: check: 2 are sold, and 1 of 2 are left
//
//	     A       B      Redis
//	  1  ○                │   A: start; A sends get inventory
//	  2          ○        │   B: start; B sends get inventory
//	  3  ├───────────────▶│   get inventory → 2; A sends set inventory 1
//	  …
//	Again: redistest.Replay(t, redistest.Config{}, "A:start B:start A:GET B:GET A:SET B:SET", system)
//
// # How to write a check
//
// State what a buyer, a colleague or an accountant would complain about, such as the numbers of pieces sold and left, and not how the code
// works. Do not count an actor in doubt as a success or as a failure: a shop that never sells too much, and never confirms a sale that it
// has not made, is correct whatever happened to the buyers in doubt.
//
// Begin without faults, and then add one at a time: "crash=1", "lost-reply=1", "slow=1". Two actors show most errors, and three show almost
// all the rest.
//
// The examples are six common tasks: a sale, a counter, a rate limiter, an idempotency key, a cache and a delay queue. Each has a wrong and
// a correct implementation.
//
// # When a test fails without an anomaly
//
// A test does not pass if it has proved nothing. It fails if
//
//   - [Config.Runs] or [Config.Time] was used up before every schedule was run, up to [Config.Depth] steps;
//   - a choice of the code could not be repeated;
//   - the simulated Redis does not know a command;
//   - no command was sent, no actor succeeded, or no schedule came to its end.
//
// A fault that the test allows but that never occurred is only logged.
//
// # What is assumed
//
// The code is deterministic: after the same replies and the same delays, it does the same. Every run starts with the same clock and the
// same crypto/rand. Where the code depends on chance, by math/rand or by a select with two ready channels, a schedule is repeated until it
// leads to the same state as before.
//
// A process that repeats the same actions forty times is assumed to repeat them forever. A process that crashes is cut off from Redis, and
// what its code does afterwards is ignored.
//
// # Recommendations
//
// Configure the client not to retry (MaxRetries: -1), or to retry without a pause (MinRetryBackoff: -1), because a random pause cannot be
// repeated. Call an HTTP handler directly, with httptest.NewRecorder.
//
// Do not call t.Parallel. The code may use nothing outside the bubble: no other server, and no goroutine that was started before.
package redistest
