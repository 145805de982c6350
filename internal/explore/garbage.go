package explore

import (
	"runtime"
	"runtime/debug"
)

// ballast is what the heap holds beside an exploration: next to nothing is kept of most of them, and garbage would be collected each time
// that it comes to a few of that. It is never written, and so takes no memory.
const ballast = 16 << 20

// CollectRarely lets garbage be collected more rarely, in the whole process, until usual is called: an exploration makes much of it, and
// keeps little. A bound on memory is not hit for the sake of garbage. Of two that overlap, the later would leave the bound of the other.
func CollectRarely(bounds Bounds) (usual func()) {
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(-1)
	if bounds.Memory > 0 {
		debug.SetMemoryLimit(min(limit, int64(bounds.Memory/3*2))) //nolint:gosec // far less
	}
	held := make([]byte, ballast)
	return func() {
		runtime.KeepAlive(held)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
