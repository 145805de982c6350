package search

import "runtime"

// yield lets other goroutines in: all share the one thread of a browser's worker, and nothing else interrupts a search there.
func yield() { runtime.Gosched() }
