package dao

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// breath is how long commands may go on, one after the other.
const maxBusy = 8 * time.Millisecond

// breathe lets a browser in between the commands of an embedded Redis: while a goroutine can go on, no message reaches the program. In
// a pause everybody soon waits for Redis.
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
