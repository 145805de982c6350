package load

import "fmt"

// spareFiles is how many files a process needs in addition to those of its buyers: its own, and, if the server is in it, both ends of the
// connections to the embedded Redis.
const spareFiles = 200

// CheckFileLimit fails if this process may not open as many files as so many buyers need: one each, and one more if the server is ours.
func CheckFileLimit(buyers int, ownServer bool) error {
	limit, limited := OpenFileLimit()
	need := buyers
	if ownServer {
		need *= 2
	}
	if need += spareFiles; !limited || need <= limit {
		return nil
	}
	return fmt.Errorf("-c %d is not allowed: so many buyers need %d open files at once, and this process may have %d: "+
		"raise the limit first (ulimit -n %d), or let fewer come at once", buyers, need, limit, need)
}

// maxStreams is how many streams a server has at most, however many files it may open.
const maxStreams = 200

// Capacity is how much a server takes at once, so that it never runs out of files. 0 means any number.
type Capacity struct {
	Connections  int // of HTTP: one for each buyer, and for each stream
	Overflow     int // further ones, which are open only to be told that there are too many
	Streams      int // of Connections, so that buyers have the others
	RedisClients int // of the embedded Redis, from other processes
}

// CapacityOf returns the capacity of a server whose process may open so many files. What it leaves is for the server's own files, and for
// both ends of the connections to an embedded Redis.
func CapacityOf(limit int) Capacity {
	all := limit - min(limit/2, limit/4+64)
	overflow := min(all/8, 64)
	buyers := all - overflow
	return Capacity{Connections: buyers, Overflow: overflow, Streams: min(buyers/2, maxStreams), RedisClients: limit / 4}
}

// ForFront returns the capacity of a cluster's front in the same process: a connection of a client may need another to a replica, and a
// stream one to each.
func (c Capacity) ForFront(replicas int) Capacity {
	c.Connections /= 2
	c.Streams = min(c.Streams, c.Connections/(1+replicas))
	return c
}

// OwnCapacity returns the capacity of a server in this process.
func OwnCapacity() Capacity {
	if limit, limited := OpenFileLimit(); limited {
		return CapacityOf(limit)
	}
	return Capacity{}
}
