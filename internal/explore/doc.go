// Package explore runs the real code of a lock, under the real sale, in every order that its Redis commands can take.
//
// A test of a lock that starts goroutines and waits sees only a few orders, and rarely those that break the lock. The explorer decides the
// order itself. It runs a few sales, one step at a time, and tries every step that can come next. Its answer is the shortest schedule that
// shows an anomaly, or the fact that no schedule does. Its models are CHESS (Musuvathi et al., OSDI 2008), loom and shuttle.
//
//	faults, _ := explore.ParseFaults("expiry=1")
//	result, err := explore.Explore(ctx, strategy, explore.Scenario{Actors: 2, Faults: faults}, explore.Goal{}, explore.Bounds{})
//	fmt.Println(result.Verdict(), result.Found[0].Schedule()) // broken A:SET expiry B:SET
//
// The package is made for the locks and exercises of this repository, which declare how they wait. It does not infer how code waits: code
// that behaves otherwise than it declares is refused, with an error that names the line. Package locktest runs any code, unmodified.
//
// # What is explored
//
// A Scenario has actors; each of them sells one piece, in a process of its own unless Replicas says otherwise. The locks, the sale, the
// store, the Redis client and the Lua scripts are the real ones. Redis is simulated (package simredis), and so is time.
//
// The code can wait in only two places: a hook of the Redis client holds every command back, and every other wait goes through lock.Clock.
// So the explorer always knows what each actor waits for, and lets only one goroutine run at a time. It chooses from transitions, which
// form one table (engine/kind_table.go): a command takes effect and its sender runs to its next wait; a message arrives; time advances to
// the next timer or expiry, by itself only when nothing else can happen; a wait ends in one of two ways, where Go's select could take
// either; and faults, as often as the scenario allows them. Each command of a pipeline is a step of its own; a transaction is a single
// step.
//
// # What a state is, and why a counterexample is the shortest
//
// The contents of Redis are a value, and can be compared. The memory of a process cannot be read, but the code is deterministic: after the
// same start, replies, messages, wake-ups and clock readings it is in the same state. So a hash of everything that ever happened to a
// process stands for its memory, and a state hash of 128 bits, the Fingerprint, stands for a state. The search (package search) is breadth
// first over these hashes, so the first schedule that shows an anomaly is one of the shortest. To reach a state, the code runs again along
// the state's schedule. That is fast, because simredis remembers the answer to each command in each state.
//
// # What is left out, because its result is known
//
//   - A state that was seen before is not continued.
//   - A waiter in the pause of lock.Poll sleeps until a key of the lock, the memory of its process, or a clock that it has read changes,
//     because lock.Poll declares that the next attempt is the same as the one that has just failed. In the first runs, and in some of the
//     later ones, waiters are made to try twenty more times (CheckPolls): one that then does something else, or extends an expiry, is
//     refused with ErrUndeclaredPoll.
//   - An attempt of lock.Poll that follows one that sent nothing, sends nothing itself, and leaves the memory of its process as it was, is
//     forgotten. That memory is what reflection reaches from the lock; if it meets a closure, nothing is forgotten.
//   - An attempt that has left nothing in Redis is forgotten when the next one begins: otherwise waiters that undo each other's attempts,
//     as they do on a majority of nodes, would go on forever.
//   - With three or more actors, those that start alike start in the order of their names. If each makes one sale, and the lock is on one
//     server, they are interchangeable: a state hash orders them by what has happened to each (symmetry reduction: Clarke et al., CAV 1993;
//     Ip and Dill, FMSD 1996). A test over the table of our locks shows that none of them depends on names. With two actors, both orders
//     are explored.
//   - The masters of a lock on several nodes are interchangeable, and their answers to the tasks that one task has started count as a set.
//
// Bounds.EveryState and Bounds.EverySymmetry explore without these cuts; TestCutsDoNotChangeResults compares.
//
// # What is judged
//
// The judge (package judge) sees what no actor can see: who truly holds the lock according to Redis, and which actors believe that they
// hold it. The true holder follows from who wrote the key lock.Key. A strategy is judged by what it promises, its Scope. What Redis does
// not show is not judged, and the answer says so (Result.Unjudged): who holds the lock, if it is in another key or several actors count a
// number in its key; whether a waiter is right to sleep while the lock's key is free; whether a fault has kept out an actor that tries only
// once.
//
// If only waiters remain and all of them poll in vain, they may poll a hundred more times, and until every lock has expired twice by every
// clock. If none of them then gives up or does something else, they are stuck. If one of them reads a clock, and a later time would free
// it, the verdict is Unknown. A lock is left behind if a newcomer, long afterwards, cannot obtain it within the same bounds. A lock or a
// goroutine that outlives the sales of its process counts as left behind or as a leak, unless closing the lock (lock.Closer) ends it.
//
// # What is refused, with the line
//
//   - ErrBlind: the code waits otherwise than by lock.Sleep, lock.Poll or Clock.Wait, or starts a goroutine otherwise than by Clock.Go. A
//     goroutine that ends at once, or that only acts in later schedules, may go unnoticed. Exercises with such code are refused before they
//     are built.
//   - ErrUndeclaredPoll: the code polls in a way that it does not declare.
//   - ErrUnrepeatable: the code does not do the same thing twice. It must take the time from its clock, and randomness from its Parts.
//   - ErrCommand: a command that blocks in Redis, has a random answer, or is unknown; or a key that is not a string, hash, list, set or
//     sorted set.
//   - ErrKey: a key that is neither lock.Key nor begins with {distributedLock}:, or a command with keys of both the lock and the stock.
//
// Besides, processes must share nothing but Redis, since a variable of a package would be the same in all of them, and New must not do
// anything but build the lock.
//
// # Limits
//
// The result is true for these actors and these fault budgets. Result.Omissions lists what was left out. A client gives up on a node that
// does not answer within three seconds. Bounds may end a search early; the verdict is then Unknown, never Holds. In a browser (GOOS=js)
// there is only one thread, so code that never stops running is not detected there.
//
// # Schedules
//
// A schedule is a list of steps, as in
//
//	A:SET A:GET A:write/lost expiry B:SET
//
// A and B are actors. A goroutine that A has started is named by its argument of Clock.Go, as in A.renewal, or by the node that it asks, as
// in A.node2. Actors that share a process are paused and woken together, under the name of the process: replica1. SET, GET and write are
// commands: write is the script write.lua; a script that is not from package lua is named by the first word of its leading comment. A slash
// is followed by what happens to that command. A step without an actor is time or a fault. Notation lists all forms. Replay runs a schedule
// again. If the code no longer follows it, Replay fails with ErrStale and names the step.
//
// # Where to read on
//
// engine.Scenario and package anomaly define the vocabulary; simredis and search know nothing about locks; engine runs one schedule on
// simredis, judge judges it, and a Harness puts the lock under test into it. Package session walks through one schedule by hand, seat
// serves that over HTTP, and report presents results in a terminal, as JSON, and as a page.
package explore
