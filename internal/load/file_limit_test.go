package load

import "testing"

// A server never runs out of open files: those that are left are enough for its connections to the embedded Redis.
func TestCapacityLeavesFilesForServer(t *testing.T) {
	const ownConnections = 30 // connections to the embedded Redis on a small machine; both ends are in this process
	for _, limit := range []int{256, 1024, 4096, 1 << 20} {
		c := CapacityOf(limit)
		left := limit - c.Connections - c.Overflow - c.RedisClients
		if c.Connections < limit/3 || c.Streams < 1 || c.Streams > c.Connections/2 || c.Streams > 200 || left < 2*ownConnections {
			t.Errorf("CapacityOf(%d) = %+v, which leaves %d, want at least %d", limit, c, left, 2*ownConnections)
		}
		f := c.ForFront(3)
		if used := 2*f.Connections + f.Overflow + f.RedisClients; f.Connections < limit/8 || used > limit-30 || 4*f.Streams > f.Connections {
			t.Errorf("CapacityOf(%d).ForFront(3) = %+v, which uses %d, want 30 less than the limit", limit, f, used)
		}
	}
	if c := CapacityOf(8); c.Connections < 1 {
		t.Errorf("CapacityOf(8) = %+v, want a connection", c)
	}
}
