//go:build (amd64 || arm64 || wasm) && !purego

package engine

// goroutine tells one goroutine from all others that live: it is where the runtime keeps it, which never moves. The number that the runtime
// gives it stands only in a printed stack, and to print one takes longer than all the rest of a schedule.
type goroutine uintptr

// self returns the goroutine that asks. The explorer asks once for each command and for each call of the clock.
//
// This is in assembly, since the explorer makes 9 to 14 times as many schedules with it. On amd64, one processor, --faults expiry=1,
// schedules a second of processor time, medians of three runs in turns, with it and without (-tags purego):
//
//	v4, three actors  12,990    980
//	v6, two actors    10,750    930
//
// The same in WebAssembly, under node:
//
//	v4, three actors   2,930    260
//	v6, two actors     1,960    210
func self() goroutine
