// Package redistest explores code on Redis, as it is, in a test of your own: a handler, a job, a consumer, with its client, its goroutines
// and timers, in every order of their commands and under every fault that you name. You say what is to be true:
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
// Any client that takes a dialer will do: go-redis, rueidis (DialCtxFn), redigo (DialContextFunc). For a lock, package locktest has the
// check.
//
// # What happens
//
// A few actors (A, B) do once what [System].Actor returns, each in a process of its own. Redis is simulated at the other end of their
// connections, and holds every command back. When everybody waits, and only then, one thing happens: a command takes effect and is
// answered, an actor starts, time passes to the next timer or expiry, or a fault of Config.Faults happens ([Faults] explains them). All
// this is in a bubble of testing/synctest, so hours take no time.
//
// At the end of each schedule Check is asked. What an actor was told counts: it succeeded, it failed, or it is in doubt, since its process
// has crashed or a reply was lost. A system that never sells too much, and tells nobody "sold" who goes without, is right whatever it says
// to those in doubt. Always is asked after each step. Found without any check are an actor that never comes back (Stuck), a process that
// sends command after command (Busy), and a goroutine that is left (GoroutineLeak).
//
// All orders are run, the shortest first; states that differ only in when they were reached, or in random values, count as one. A test
// fails with the shortest schedule, its drawing, and the line that replays it:
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
// Say what a buyer, a colleague or an accountant would complain of, not how the code is to do it: so many are sold, so many are left. Count
// those in doubt on neither side. Begin without faults; add one at a time: "crash=1", "lost-reply=1", "slow=1". Two actors show most of
// what goes wrong, and three the rest.
//
// The Examples are six things that are often done: a sale, a counter, a rate limiter, an idempotency key, a cache, a delay queue; each in a
// wrong way and in a right one.
//
// # What is assumed
//
// Code that has seen the same, at the same distances in time, does the same. The clock of each run begins alike, and so does crypto/rand.
// Where the code leaves something to chance, by math/rand or a select of two channels that are ready, a schedule is repeated until it
// leads where it led before. A process that has done the same forty times is taken to do so for ever. One that crashes is cut off from
// Redis; what its code does then, nobody sees.
//
// A test never passes silently. It fails if Config.Runs or Config.Time were used up before all was seen (Config.Depth says how far is
// enough), if a choice could not be repeated, if a command is unknown to the simulated Redis, if nothing was ever sent, if no actor has
// ever succeeded, and if no schedule has come to its end.
//
// # What helps
//
// Let the client send a command once (MaxRetries: -1), or without a pause (MinRetryBackoff: -1): a random pause cannot be repeated. Call
// the handler itself, by httptest.NewRecorder: nothing may leave the bubble, no other server, and no goroutine that was started before. Do
// not call t.Parallel.
package redistest
