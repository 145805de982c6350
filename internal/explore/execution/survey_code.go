//go:build (amd64 || arm64) && (linux || darwin || windows)

package execution

import (
	"encoding/binary"
	"runtime"
	"unsafe"
)

// calls gives each call in a function that names another one: where it is, and where that begins. What looks like a call, and is none,
// leads to the beginning of no function, but for a chance that can be neglected.
func calls(function uintptr, each func(from, to uintptr)) {
	code := codeOf(function)
	at := func(i int) uint32 { return binary.LittleEndian.Uint32(code[i:]) }
	if runtime.GOARCH == "arm64" {
		const branchAndLink = 0b100101
		for i := 0; i+4 <= len(code); i += 4 {
			if word := at(i); word>>26 == branchAndLink {
				from := function + uintptr(i)
				each(from, from+uintptr(int64(int32(word<<6))>>4)) //nolint:gosec // a distance, with its sign
			}
		}
		return
	}
	const call, size = 0xe8, 5
	for i := 0; i+size <= len(code); i++ {
		if code[i] == call {
			from := function + uintptr(i)
			each(from, from+size+uintptr(int64(int32(at(i+1))))) //nolint:gosec // a distance, with its sign
		}
	}
}

// codeOf returns the code of a function: up to where the next one begins.
func codeOf(function uintptr) []byte {
	const step = 16 // functions begin at multiples
	end := function + step
	for f := runtime.FuncForPC(end); f != nil && f.Entry() == function; f = runtime.FuncForPC(end) {
		end += step
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&function)), end-function) //nolint:gosec // code neither moves nor changes
}
