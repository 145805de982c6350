// Package bubble runs code on Redis, as it is, in every order of its commands and under every fault that it is given: any client, any
// goroutines and timers, in a bubble of testing/synctest.
//
// A Game says what is run and who judges it: which calls an actor may make (Calls), what a step has shown (Judge). All else is here. A Run
// is one schedule as it unfolds: actors in processes, and a Redis at the other end of their connections (package server) that holds every
// command back. When everybody waits, and only then, one step happens (steps.go): a command takes effect and is answered, an actor makes a
// call, time passes to the next timer or expiry, or a fault happens (faults.go). Search looks at all schedules, the shortest first, by
// package search; Show runs one, and draws it.
//
// Two states are the same if all that the future depends on is (state_hash.go): what the nodes hold, what is on its way, and what each
// process has seen. Code that has seen the same does the same, but for what it leaves to chance: then a schedule is repeated.
package bubble
