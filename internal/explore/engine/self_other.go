//go:build purego || (!amd64 && !arm64 && !wasm)

package engine

// goroutine is the number that the runtime gives a goroutine.
type goroutine string

// self returns the goroutine that asks.
func self() goroutine { return goroutine(number()) }
