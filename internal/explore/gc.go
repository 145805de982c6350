package explore

import (
	"runtime"
	"runtime/debug"
)

// ballastBytes is the size of an unused block on the heap. Most explorations keep next to nothing, so that the heap alone would trigger a
// collection after every few megabytes of garbage; the block raises that threshold. It is never written, and so takes no memory.
const ballastBytes = 16 << 20

// gcPercent replaces the default of 100: an exploration produces much garbage and keeps little.
const gcPercent = 400

// ReduceGC makes the garbage collector of the whole process run less often, until restore is called. It sets a memory limit of two thirds
// of bounds.Memory, so that garbage does not use up that bound. Calls must not overlap: the later one would restore the settings of the
// other.
func ReduceGC(bounds Bounds) (restore func()) {
	percent, limit := debug.SetGCPercent(gcPercent), debug.SetMemoryLimit(-1)
	if bounds.Memory > 0 {
		debug.SetMemoryLimit(min(limit, int64(bounds.Memory/3*2))) //nolint:gosec // a memory size is far below the largest int64
	}
	ballast := make([]byte, ballastBytes)
	return func() {
		runtime.KeepAlive(ballast)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
