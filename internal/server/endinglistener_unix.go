//go:build unix

package server

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// handshakeTime is how long a client may take from the system's first answer to the end of its connecting: much on a busy machine.
const handshakeTime = 100 * time.Millisecond

// lastOf accepts what has connected to a listener, and no more. Where the system cannot refuse others meanwhile, what connects at the very
// end is reset.
func lastOf(l *net.TCPListener) (conns []net.Conn) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil // it is closed
	}
	_ = raw.Control(func(listening uintptr) {
		refused := refuseNew(int(listening))
		for last := time.Now(); ; {
			conn, err := accept(int(listening))
			switch {
			case err == nil:
				conns, last = append(conns, conn), time.Now()
			case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.ECONNABORTED): // the next one may do
			case errors.Is(err, syscall.EAGAIN) && refused && time.Since(last) < handshakeTime:
				time.Sleep(lookTime)
			default: // there are no more, or no more files
				_ = syscall.Shutdown(int(listening), syscall.SHUT_RD) // Linux listens no more
				return
			}
		}
	})
	return conns
}

// accept accepts a connection that no process inherits.
func accept(listening int) (net.Conn, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	connected, _, err := syscall.Accept(listening)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(connected)
	file := os.NewFile(uintptr(connected), "")
	conn, err := net.FileConn(file)
	_ = file.Close() // the connection has a descriptor of its own
	return conn, err
}
