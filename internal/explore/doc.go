// Package explore runs the real code of a lock, under the real sale, in every order that its Redis commands can take.
//
// A test of a lock that starts goroutines and waits sees a few orders, and not the ones that break it. The explorer decides the order
// itself. It runs a few sales, one step at a time, and tries every step that can come next. It answers with the shortest schedule that
// shows an anomaly, or with the fact that no schedule does. Models: CHESS (Musuvathi et al., OSDI 2008), loom, shuttle.
//
//	faults, _ := explore.ParseFaults("expiry=1")
//	result, err := explore.Explore(ctx, strategy, explore.Scenario{Actors: 2, Faults: faults}, explore.Goal{}, explore.Bounds{})
//	fmt.Println(result.Verdict(), result.Found[0].Schedule) // broken A:SET expiry B:SET
//
// It is for the locks and exercises of this repository, which declare how they wait. It infers nothing: code that declares something else
// than it does is refused with its line. Package locktest runs any code, unmodified.
//
// # What is explored
//
// A Scenario has actors; each sells one piece, in a process of its own unless Replicas says otherwise. The locks, the sale, the store, the
// Redis client and the Lua scripts are the real ones. Redis is simulated (package simredis), and so is time.
//
// The code can wait at two places alone: a hook of the client holds every command back, and everything else waits in lock.Clock. So the
// explorer always knows who waits for what, and lets one goroutine run at a time. What it chooses from are transitions, one table
// (engine/kind_table.go): a command takes effect and its sender runs to its next wait; a message arrives; time moves to the next timer or
// expiry, by itself only when nothing else can happen; a wait ends in one of two ways, where Go's select could take either; and faults, as
// often as the scenario allows. Of a pipeline each command is a step, and a transaction is one.
//
// # What a state is, and why a counterexample is the shortest
//
// What Redis holds is a value, and can be compared. The memory of a process cannot be read, but the code is deterministic: after the same
// start, replies, messages, wake-ups and readings of the clock it is in the same state. So a hash of all that ever happened to a process
// stands for its memory, and a fingerprint of 128 bits for a state. The search (package search) is breadth first over fingerprints: the
// first schedule that shows an anomaly is one of the shortest. To reach a state the code runs anew along its schedule, which is fast,
// because simredis remembers what each command answers in each state.
//
// # What is left out, because what it would show is known
//
//   - A state that was seen before is not gone on from.
//   - A waiter in the pause of lock.Poll sleeps until a key of the lock, its process's memory, or the clock that it has looked at changes,
//     as lock.Poll says that the next attempt is the one that has just failed. In the first runs, and in a few of the later ones, waiters
//     are made to try twenty times more (CheckPolls): one that then does something else, or prolongs an expiry, is refused with
//     ErrUndeclaredPoll.
//   - An attempt that has left nothing in Redis is forgotten when the next one begins: those who undo each other's attempts, as on a
//     majority of nodes, would go on for ever.
//   - Of three and more actors, those that start alike start in the order of their names, and are interchangeable: a fingerprint has their
//     places in an order that follows from what happened to each (Clarke et al., CAV 1993, and Ip and Dill, FMSD 1996). That our locks are
//     blind to names is a test over their table. Of two actors, both orders are explored.
//   - The masters of a lock on several nodes are interchangeable, and what they answer to tasks of one task counts as a set.
//
// Bounds.EveryState and Bounds.EverySymmetry explore without these cuts; TestTheCutsAreSound compares.
//
// # What is judged
//
// The judge sees what no actor can see: whose lock Redis holds in truth, and who believes that it holds one. Whose it is follows from who
// wrote the key lock.Key. A strategy is judged by what it promises, its Scope. What Redis does not tell is not judged, and the answer says
// so (Result.Unjudged): whose the lock is, if it is elsewhere or several count a number in its key; whether somebody sleeps on beside a
// lock that is free; whether a fault has kept out one that tries once.
//
// If all that is left are waiters that ask in vain, they are let ask a hundred times more, and until every lock has expired twice by every
// clock. If none gives up or does something else, they are stuck. If one of them looks at a clock, and a later time would help it, the
// verdict is Unknown. A lock is left behind if a newcomer, an age later, does not get it by the same measure. What a process keeps
// beyond its sales is left behind, or a leak, if closing its lock (lock.Closer) does not end it.
//
// # What is refused, with the line
//
//   - ErrBlind: it waits otherwise than by lock.Sleep, lock.Poll or Clock.Wait, or starts a goroutine otherwise than by Clock.Go. A
//     goroutine that ends at once, or acts in later schedules alone, may not be seen. Exercises are refused such code before it is built.
//   - ErrUndeclaredPoll: it polls in a way that it does not declare.
//   - ErrUnrepeatable: it does not do the same twice. Time comes from its clock, and chance from its Parts.
//   - ErrCommand: a command that waits in Redis, answers by chance, or is unknown, or a key that is no string, hash, list, set or sorted
//     set.
//   - ErrKey: keys are lock.Key, and those that begin with {distributedLock}:, and no command has keys of the stock, too.
//
// Besides, processes share nothing but Redis, as a variable of a package would be one for all, and New does nothing.
//
// # Limits
//
// The result is true for these actors and these budgets. Result.Cut says what was left out. A client gives up a node that does not answer
// after three seconds. Bounds end a search early; the verdict is then Unknown, never Holds. In a browser (GOOS=js) there is one thread,
// so code that runs on and on is never refused there.
//
// # Schedules
//
// A schedule is a list of steps, as in
//
//	A:SET A:GET A:write/lost expiry B:SET
//
// A and B are actors. A goroutine that A has started has the name that Clock.Go gave it, as A.renewal, or that of the node that it asks, as
// A.node2. Actors that share a process are paused and woken as replica1. SET, GET and write are commands: write is the script write.lua;
// one that is not from package lua has the first word of the comment that it begins with. What follows a slash happens to that command. A
// step without a name is time. Notation lists all forms. Replay runs a schedule again, and fails with ErrStale, naming the step, if the
// code no longer does what it says.
//
// # Where to read on
//
// engine.Scenario and internal/anomaly are the vocabulary; simredis and search know nothing of locks; engine runs one schedule on
// simredis, judge judges it, and a Harness puts the lock under test into it. Package session walks through one schedule by hand, seat
// serves that over HTTP, and report shows it in a terminal, as JSON, and as a page.
package explore
