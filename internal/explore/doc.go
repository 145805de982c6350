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
// # What is explored
//
// A Scenario has actors; each sells one piece, in a process of its own unless Replicas says otherwise. The locks, the sale, the store, the
// Redis client and the Lua scripts are the real ones. Redis is simulated (package simredis), and so is time.
//
// The code can wait at two places alone. A hook of the client holds every command back, and everything else waits in lock.Clock. So
// the explorer always knows who waits for what, and lets one goroutine run at a time (engine.Coroutine). Between two waits the code
// runs alone, so nothing that happens there can depend on an order. What the explorer chooses from are these transitions (package
// engine):
//
//   - A task's next command takes effect, and its sender gets the reply and runs to its next wait. Of a pipeline, which is sent at once,
//     each command is such a step, and the last one brings all replies. Until then its sender may be paused, or die, and the rest takes
//     effect nevertheless, unless the connection breaks. A transaction is one command.
//   - A task subscribes to a channel. It does so together with what came before, unless that was a reply.
//   - A message reaches a process that subscribed to it.
//   - Time moves to the next timer or expiry. It does so by itself only when nothing else can happen.
//   - A fault happens, as often as the scenario allows: Faults, AllFaults.
//   - A wait ends in one of two ways, if its channel has something for it and its context has ended: Go's select takes either. A client
//     that goes away, or a timeout, may also stay unnoticed until then. Before that, the order makes no difference: what others of the
//     process do in the meantime is as if it had come before.
//
// # What a state is
//
// A state is everything the future depends on. What Redis holds is a value, and can be compared. The memory of a process cannot be
// read, but the code is deterministic: after the same start, replies, messages, wake-ups and readings of the clock it is in the same
// state. So the hash of all that ever happened to a process stands for its memory. A fingerprint is a hash of both, and of what is due:
// timers, messages, watches, sleepers, commands that are late, what a replica that lags holds, the budgets of faults, and what the
// checker knows. It has 128 bits and a random seed, so that
// two states are taken for one by accident with a chance that can be neglected.
//
// # Why a counterexample is the shortest
//
// The search (package search) is breadth first: it looks at all schedules of n steps before any of n+1. The first schedule that shows an
// anomaly is therefore one of the shortest. To reach a state, the code runs anew along the transitions that led to it; nothing is
// copied. That is fast because simredis remembers what each command answers in each state, so that a prefix costs no Lua. Where all
// anomalies are looked for, a run that comes to a new state takes one more step there, and so on: that step needs no run later.
//
// # Why each cut is sound
//
// The orders of three actors are too many to run. Some are left out because what they would show is known.
//
//   - A state that was seen before is not gone on from: the same state has the same future, and it was reached in no more steps the first
//     time.
//   - Actors that start alike are interchangeable: they differ by name alone. They start in one order, and a state in which they have
//     changed places is the same state. Where a name stands in what Redis holds, or in what a process was told, the fingerprint has the
//     actor's place, in an order that follows from what happened to each. To know that the code is blind to names, the explorer runs each
//     schedule a second time with the names in reverse order (these runs are not counted): both have to lead to the same fingerprint. If
//     a single one does not, all of this is dropped, and the search begins anew: the actors start in the order of their names, and once
//     more in reverse. Code for which more than the order of two names matters is not covered.
//   - A waiter that polls sleeps for a moment between two attempts. The sleep may end at any time, but not before the attempt could give
//     another result: others have changed what Redis holds, or the last command would now have another reply, or the code has looked at the
//     clock. An attempt that would repeat leads to the same state, so nothing is lost. Before a waiter counts as stuck it tries once
//     more. A pause of lock.Poll says that the next attempt is the one that has just failed. After any other pause, also of lock.Sleep,
//     the code may ask something else. If it is told the same ten times, it polls, and does not say so: ErrUnsaid.
//     A waiter may count such attempts, so it makes them, too, beside others: as often as the scenario says (Scenario.Polls), in all. If it
//     does not say, three times. If that shows nothing, the exploration is repeated with twice as many, up to a hundred, while it is cheap:
//     a rule of counts, so the same lock has the same answer everywhere. How far it came is part of the answer (Result.Setting).
//   - Such attempts cost schedules. If an exploration takes more than 40,000 (Bounds.Awake), it begins anew with one of them, and the
//     result says so: up to 1 vain poll. It is not none, as a fault may strike the command of a vain poll, too.
//   - A waiter that polls with pauses longer than a moment asks in vain as often as the scenario says (Scenario.Polls), and each time is a
//     step. As long as it would be told the same after that, and would change nothing, its attempts are part of the step in which time
//     passes. They are made, so code that counts them counts on, but no fault comes between them.
//   - A waiter that says with each question that it lives, and is told the same, does so as often as the scenario says in steps of their
//     own. After that all its questions up to the next event are part of the step in which time passes to that.
//   - An attempt without a command, of code that looks at the memory of its process, would repeat until something happens to that process.
//   - An attempt that left nothing in Redis is forgotten when the next one begins. Here the explorer assumes that a waiter decides by its
//     last attempt; without that, those who undo each other's attempts would go on for ever.
//   - The masters of a lock on several nodes are interchangeable, and what they answer to tasks that one task started and waits for
//     counts as a set.
//   - A step is a command and all that follows to the next wait. What runs between two waits is seen by nobody else, so to split it would
//     show nothing new. The exception is a process that stops between the effect of its command and reading the reply: that is a
//     transition of its own.
//
// # When somebody is stuck
//
// Nobody can say of code whether it will ever stop asking. If all that is left are waiters who were told the same twice, and who change
// nothing, they are let ask a hundred times more, and until every lock has expired twice by every clock, and every expiry that is known has
// come. If none gives up, or does anything else, they are stuck. If they do change something, they may keep each other waiting. Then the
// explorer goes on in every order, and takes two states for the same if everybody is at the same place, and was told the same in the last
// round. If these states come back to each other, and in none of them somebody has finished, and five hundred attempts in one order, and
// every expiry that is known, bring nobody on, then they are stuck. A wait that is merely long ends in one of these ways.
//
// An expiry that Redis does not keep is known in two ways. What a waiter has asked is asked at later times: if a script compares with
// Redis's clock, the reply will be another one. A waiter that looks at its own clock is believed to compare it with the times that stand
// in values: those of at most an hour ahead. Time passes to the next of these by itself, as it does to the expiry of a key. If a waiter
// gets on only after a time that is not known, the schedule ends there, and the verdict is Unknown.
//
// A lock is left behind if a key of its own stays, and a newcomer, an age later, does not get the lock by the same measure. A waiter is
// idle that sleeps for longer than a quarter of the expiry, in one piece or in several, beside a lock that a newcomer would get at once, or
// that nobody living has, unless an Unlock made it expire sooner. A sale that tries once is told a false word if nobody had the lock, and
// if it would have been a newcomer's in each state that it was in meanwhile. What a process keeps beyond its sales is left behind, or a
// leak, if closing its lock (lock.Closer) does not end it.
//
// TestTheCutsAreSound explores with and without these cuts (Bounds.EveryState, Bounds.EverySymmetry) and compares the anomalies and the
// lengths of their schedules.
//
// # What is looked for
//
// Anomalies lists what can go wrong. The checker (package checker) sees what no actor can see: whose lock Redis holds in truth, and who
// believes that it holds one. Whose it is follows from who wrote the key lock.Key; of a lock that is elsewhere, from whose name Redis
// holds; of a key in which several may be, from who entered and is named there. Where nothing names anybody, or several count a number in
// the key, ForeignRelease and Untold are not judged: Result.Unjudged. A strategy is judged by what it promises, its Scope: an anomaly
// that it does not promise to prevent is not looked for. Starved is looked for only where a Goal names it.
//
// # What is assumed of the code under test
//
//   - It waits by lock.Sleep, lock.Poll or Clock.Wait, and starts goroutines by Clock.Go. Otherwise: ErrBlind, with the line, once that
//     had an effect: a goroutine is there after a schedule, or uses what the explorer gave; the code that has the turn waits, or never
//     gives it back. A goroutine that ends at once and never touches what the explorer gave is not seen, nor a real timer that fires
//     after the schedule; a goroutine that panics ends the program. Where an exercise is checked, each go statement and each function of
//     package time that waits is refused before the code is built.
//   - Its processes share nothing but Redis. They run in one program here, so a variable of a package would be one for all of them.
//   - It polls by lock.Poll. Otherwise: ErrUnsaid, with the line.
//   - It does the same twice. Time comes from its clock, chance from its Parts, and no iteration over a map decides what is sent.
//     Otherwise: ErrUnrepeatable, with the schedule after which it differed, and with the lines at which two runs of it part. The
//     real time that changes nothing in an exploration is not seen; where an exercise is checked, it is refused.
//   - It does nothing in New: no command, no goroutine, no wait.
//   - It keeps its data in strings, hashes, lists, sets and sorted sets, and sends no command that waits in Redis, answers by chance, or
//     is unknown. It listens to what it publishes, not to keyspace notifications. Otherwise: ErrCommand, with the line.
//   - Its keys are lock.Key, and those that begin with {distributedLock}:, and no command has keys of the stock, too. Otherwise: ErrKey,
//     with the line.
//   - The lock is the key lock.Key, or has the name of its owner in what it writes. What belongs to a whole process has lock.Owner of the
//     process's name as a value, or begins with it and a colon.
//
// # Limits
//
// The result is true for these actors and these budgets, not for more. Result.Cut says what was left out. Commands and transactions are
// atomic, as in Redis. What has passed the client's hook is on its way, and takes effect even if its context ends. The network and Redis
// fail only as the faults say. A client gives up a node that does not answer after three seconds. After a pause, overdue timers fire at
// once; on a machine that was suspended they may be late. A goroutine that a message or a timer starts begins at once. A lock that polls
// without a pause is never seen to be idle, and is reported as unknown. Bounds end a search early; the verdict is then Unknown, never
// Holds.
//
// # In WebAssembly
//
// The same packages run in a browser (GOOS=js GOARCH=wasm), and find the same in as many schedules. There is one thread there, which nobody
// can interrupt: code that runs on and on, without a command or a pause, is never refused.
//
// # How to read and replay a schedule
//
// A schedule is a list of steps, as in
//
//	A:SET A:GET A:write/lost expiry B:SET
//
// A and B are actors. A goroutine that A has started has the name that Clock.Go gave it, as A.renewal, or that of the node that it
// asks, as A.node2. Actors that share a process are paused and woken as replica1. SET, GET and write are the commands that take
// effect: write is the script write.lua. A script that is not from package lua is called by the first word of the comment that it
// begins with; without one, script. What follows a slash happens to that command: its reply is lost. Of a pipeline each command is named;
// what is on its way when its connection breaks may arrive later, as A:SET/arrives, or A:SET/never-arrives. After A:SET/late-start, each
// goroutine that it started begins by a step of its own, as A.renewal:starts. A step without a name is time.
// Notation lists all forms. Replay runs a schedule again and gives a trace of it: each command with its reply, what it means in words,
// and what is so after it. If the code no longer does what the schedule says, Replay fails with ErrStale and names the step: that is
// what happens to an old counterexample once the lock is mended.
//
// # Step by step, and why
//
// Package session walks through one schedule by hand: what can happen next and what cannot, each with a reason, one step on, one step
// back. It says how far an anomaly is away from a state, which fault made it possible, and from which step on it was too late.
// It lets another lock follow the same schedule, and go on to its end; then it looks for another schedule of that lock that shows the same.
// Package report shows all of this to people in a terminal, as JSON, and as a page.
//
// # Where to read on
//
// Each package below can be read alone. engine.Scenario and internal/lock/anomaly are the vocabulary; simredis and search know nothing of
// locks; engine runs one schedule on simredis, checker looks at it, and a Harness puts the lock under test into it.
package explore
