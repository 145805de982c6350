package wire

import (
	"bytes"
	"net"
	"strconv"
	"sync/atomic"
)

// countingConn is a connection that counts the requests of its client.
type countingConn struct {
	net.Conn
	requests *atomic.Int64
	scanner  requestScanner // not locked: clients write from one goroutine at a time
}

// Write implements net.Conn.
func (c *countingConn) Write(b []byte) (int, error) {
	c.requests.Add(c.scanner.count(b))
	return c.Conn.Write(b)
}

// requestScanner finds the requests in a RESP stream that arrives in pieces of any size. A request is an array of strings:
//
//	*2\r\n$3\r\nGET\r\n$9\r\ninventory\r\n
type requestScanner struct {
	line []byte // incomplete line
	skip int    // remaining bytes of a string
}

// count returns the number of requests that begin in b.
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
		line := bytes.TrimSuffix(s.line, []byte("\r"))
		switch {
		case bytes.HasPrefix(line, []byte("*")):
			n++
		case bytes.HasPrefix(line, []byte("$")):
			length, _ := strconv.Atoi(string(line[1:])) // valid, because it comes from a client library
			s.skip = length + len("\r\n")
		}
		s.line = s.line[:0]
	}
	return n
}
