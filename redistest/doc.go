// Package redistest tests code that uses Redis under every order of its commands and every fault that you name. It runs the real code (a
// handler, a job, a consumer, with its client, goroutines and timers) inside a test of your own. You state what must be true:
//
//	func TestSale(t *testing.T) {
//		redistest.Explore(t, redistest.Config{Faults: "lost-reply=1"}, redistest.System{
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
// Any client that takes a dialer can be used: go-redis, rueidis (DialCtxFn), redigo (DialContextFunc). For a lock, use package locktest,
// which has the check.
//
// # How it works
//
// A few actors (A, B) each run, once, the function that [System].Actor returns, in a process of their own. A simulated Redis at the other
// end of their connections holds back every command. When all goroutines are blocked, and only then, one step is taken: a command takes
// effect and is answered, an actor starts, time passes to the next timer or expiry, or a fault of Config.Faults occurs ([Faults] explains
// them). Everything runs in a testing/synctest bubble, so hours of waiting take no time.
//
// Check is called at the end of each schedule. It sees each actor's [Outcome]: the actor succeeded, failed, or is in doubt because its
// process crashed or a reply was lost. A system that never sells too much, and never answers "sold" to a buyer who gets nothing, is correct
// whatever happens to the actors in doubt. Always is called after each step. Three anomalies are found without any check: an actor that
// never returns (Stuck), a process that sends command after command without a pause (Busy), and a goroutine that outlives the run
// (GoroutineLeak).
//
// All orders are run, the shortest first; states that differ only in when they were reached, or in random values, count as one. A failing
// test prints the shortest schedule, a sequence diagram, and the line that replays it:
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
// # A good check
//
// State what a buyer, a colleague or an accountant would complain about, such as the numbers of pieces sold and left, and not how the code
// works. Do not count the actors in doubt as successes or as failures. Begin without faults, then add one at a time: "crash=1",
// "lost-reply=1", "slow=1". Two actors show most errors, and three show almost all the rest.
//
// The Examples cover six common tasks: a sale, a counter, a rate limiter, an idempotency key, a cache and a delay queue, each with a wrong
// and a correct implementation.
//
// # Assumptions
//
// The code under test is deterministic: given the same replies after the same delays, it does the same. Every run starts with the same
// clock and the same crypto/rand. Where the code uses chance (math/rand, or a select with two ready channels), a schedule is repeated until
// it leads to the state that it led to before. A process that repeats the same actions forty times is assumed to repeat them forever. A
// process that crashes is cut off from Redis, and what its code does afterwards is ignored.
//
// A test never passes without having tested something. It fails if Config.Runs or Config.Time is used up before every schedule was seen
// (Config.Depth sets how far is enough), if a choice could not be repeated, if the simulated Redis does not know a command, if no command
// was ever sent, if no actor ever succeeded, and if no schedule came to its end.
//
// # Recommendations
//
// Configure the client not to retry (MaxRetries: -1), or to retry without a pause (MinRetryBackoff: -1), because a random pause cannot be
// repeated. Call the handler directly with httptest.NewRecorder. Nothing may leave the bubble: use no other server, and no goroutine that
// was started before. Do not call t.Parallel.
package redistest
