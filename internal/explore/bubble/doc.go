// Package bubble explores unmodified code that uses Redis: any client, goroutines and timers, run in a bubble of testing/synctest, in every
// order of its commands and under every fault that is allowed. The public packages locktest and redistest are built on it.
//
// A Game defines what is explored: which calls an actor may make (Calls), and which violations a step has shown (Judge). A Run is one
// schedule in progress: actors in processes, and a simulated Redis (package server) at the other end of their connections that holds every
// command. Whenever all goroutines are blocked, one step happens (steps.go): a command is executed and answered, an actor makes a call,
// time passes until the next timer or expiry, or a fault happens (faults.go).
//
// Begin with Explorer. Explorer.Search runs all schedules, the shortest first, by package search; Explorer.Reproduce runs one and draws it.
//
// Two states are the same if everything that the future depends on is the same (state_hash.go): the contents of the nodes, the messages in
// flight, and what each process has observed. Code that has observed the same behaves the same, unless it depends on chance. If chance
// leads a schedule to another state than before, the schedule is run again.
package bubble
