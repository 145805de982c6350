package load

import "testing"

// A server never uses up its files, whatever comes: each buyer has a connection, and a front's another, and what is left is enough for the
// embedded Redis.
func TestCapacityLeavesFilesForServer(t *testing.T) {
	const ownConnections = 30 // to the embedded Redis, on a small machine; both ends are of this process
	for _, limit := range []int{256, 1024, 4096, 1 << 20} {
		c := CapacityOf(limit)
		left := limit - c.Connections - c.Overflow - c.RedisClients
		if c.Connections < limit/3 || c.Streams < 1 || c.Streams > c.Connections/2 || c.Streams > 200 || left < 2*ownConnections {
			t.Errorf("%d files: %+v, %d left", limit, c, left)
		}
		f := c.ForFront(3)
		if used := 2*f.Connections + f.Overflow + f.RedisClients; f.Connections < limit/8 || used > limit-30 || 4*f.Streams > f.Connections {
			t.Errorf("%d files of a front: %+v, %d used", limit, f, used)
		}
	}
	if c := CapacityOf(8); c.Connections < 1 {
		t.Errorf("8 files: %+v", c)
	}
}
