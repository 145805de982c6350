package load

import (
	"fmt"

	"lockstep/internal/language"
)

// spareFiles is the number of open files that a process needs in addition to those for its buyers: its own files and, if the server is in
// the same process, both ends of the connections to the embedded Redis.
const spareFiles = 200

// CheckFileLimit returns an error if this process may not open enough files for so many buyers. Each buyer needs one file, and a second one
// if the server is in the same process (ownServer).
func CheckFileLimit(buyers int, ownServer bool) error {
	limit, limited := OpenFileLimit()
	need := buyers
	if ownServer {
		need *= 2
	}
	need += spareFiles
	if !limited || need <= limit {
		return nil
	}
	return language.Translate(fmt.Errorf("-c %d is not allowed: %d buyers need %d open files, and the limit of this process is %d: "+
		"raise the limit (ulimit -n %d), or use fewer buyers", buyers, buyers, need, limit, need),
		"-c 不能是 %d：%d 个买家需要打开 %d 个文件，而本进程的上限是 %d；请提高上限（ulimit -n %d），或减少买家", buyers, buyers, need, limit, need)
}

// maxStreams bounds the number of open streams of a server, however many files it may open.
const maxStreams = 200

// Capacity limits the connections that a server accepts, so that the server never runs out of open files. 0 means no limit.
type Capacity struct {
	Connections  int // HTTP connections: one for each buyer, and one for each stream
	Overflow     int // additional HTTP connections, whose requests are only answered with an error: too many connections
	Streams      int // event streams; the other Connections are left to buyers
	RedisClients int // connections of other processes to the embedded Redis
}

// CapacityOf returns the capacity of a server whose process may open limit files. A quarter of the files and 64 more, but at most half of
// them, are left for the server's own files, and for both ends of its connections to an embedded Redis.
func CapacityOf(limit int) Capacity {
	connections := limit - min(limit/2, limit/4+64)
	overflow := min(connections/8, 64)
	connections -= overflow
	return Capacity{Connections: connections, Overflow: overflow, Streams: min(connections/2, maxStreams), RedisClients: limit / 4}
}

// ForFront returns the capacity of a reverse proxy in the same process. Each connection of a client may need another one to a replica, and
// a stream needs one to each replica.
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
