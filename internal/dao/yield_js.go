package dao

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// maxBusy is how long commands may run without a pause: half a frame at 60 frames per second.
const maxBusy = 8 * time.Millisecond

// yieldToBrowser pauses between the commands of an embedded Redis so that the browser can deliver its messages: Go on wasm has one thread,
// and a runnable goroutine starves the event loop. During the pause all goroutines soon wait for Redis, and the thread becomes idle.
func yieldToBrowser(m *miniredis.Miniredis) {
	var mu sync.Mutex
	var last time.Time
	m.Server().SetPreHook(func(*server.Peer, string, ...string) bool {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) > maxBusy {
			time.Sleep(time.Millisecond)
			last = time.Now()
		}
		return false
	})
}
