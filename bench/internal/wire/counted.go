package wire

import (
	"bytes"
	"net"
	"strconv"
	"sync/atomic"
)

// counted is a connection that counts the requests that a client writes to it.
type counted struct {
	net.Conn
	requests *atomic.Int64
	scan     scanner // clients write from one goroutine at a time
}

// Write is the connection's.
func (c *counted) Write(b []byte) (int, error) {
	c.requests.Add(c.scan.requests(b))
	return c.Conn.Write(b)
}

// scanner finds the requests in a stream of RESP, however it is cut. A request is an array of strings:
//
//	*2\r\n$3\r\nGET\r\n$9\r\ninventory\r\n
type scanner struct {
	line []byte // the beginning of a line that is not whole yet
	skip int    // bytes of a string still to come
}

// requests counts the requests that begin in b.
func (s *scanner) requests(b []byte) (n int64) {
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
		line := append(s.line, b[:end]...)
		b = b[end+1:]
		s.line = line[:0]
		switch {
		case len(line) < 2:
		case line[0] == '*':
			n++
		case line[0] == '$':
			length, _ := strconv.Atoi(string(bytes.TrimSuffix(line[1:], []byte("\r")))) // our own clients wrote it
			s.skip = length + len("\r\n")
		}
	}
	return n
}
