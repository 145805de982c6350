//go:build amd64 || arm64

package coroutine

// goroutine tells one goroutine from all others that live: it is where the runtime keeps it, which never moves. The number that the runtime
// gives it stands only in a printed stack, and to print one takes longer than all the rest of a schedule.
type goroutine uintptr

// self returns the goroutine that asks.
func self() goroutine
