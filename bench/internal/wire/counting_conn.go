package wire

import (
	"bytes"
	"net"
	"strconv"
	"sync/atomic"
)

// countingConn is a connection that counts the requests that a client writes to it.
type countingConn struct {
	net.Conn
	requests *atomic.Int64
	scanner  requestScanner // clients write from one goroutine at a time
}

// Write is the connection's.
func (c *countingConn) Write(b []byte) (int, error) {
	c.requests.Add(c.scanner.count(b))
	return c.Conn.Write(b)
}

// requestScanner finds the requests in a stream of RESP, however it is cut. A request is an array of strings:
//
//	*2\r\n$3\r\nGET\r\n$9\r\ninventory\r\n
type requestScanner struct {
	line []byte // a line, as far as it came
	skip int    // bytes of a string still to come
}

// count counts the requests that begin in b.
func (s *requestScanner) count(b []byte) (n int64) {
	for len(b) > 0 {
		if s.skip > 0 {
			skipped := min(s.skip, len(b))
			s.skip -= skipped
			b = b[skipped:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			s.line = append(s.line, b...)
			return n
		}
		s.line = append(s.line, b[:end]...)
		b = b[end+1:]
		switch line := bytes.TrimSuffix(s.line, []byte("\r")); {
		case bytes.HasPrefix(line, []byte("*")):
			n++
		case bytes.HasPrefix(line, []byte("$")):
			length, _ := strconv.Atoi(string(line[1:])) // our own clients wrote it
			s.skip = length + len("\r\n")
		}
		s.line = s.line[:0]
	}
	return n
}
