//go:build unix

package server

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// handshakeTime is how long a client may take to complete a TCP handshake that has begun. It is generous, for a busy machine.
const handshakeTime = 100 * time.Millisecond

// acceptPending accepts the connections that are established but not yet accepted. Where the system cannot refuse new ones meanwhile,
// those that arrive last are reset.
func acceptPending(l *net.TCPListener) (conns []net.Conn) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil // The listener is closed.
	}
	_ = raw.Control(func(listening uintptr) {
		refused := refuseNewConnections(int(listening))
		for last := time.Now(); ; {
			conn, err := accept(int(listening))
			switch {
			case err == nil:
				conns, last = append(conns, conn), time.Now()
			case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.ECONNABORTED): // The next connection may succeed.
			case errors.Is(err, syscall.EAGAIN) && refused && time.Since(last) < handshakeTime:
				time.Sleep(drainPollInterval)
			default: // No connection, or no file descriptor, is left.
				_ = syscall.Shutdown(int(listening), syscall.SHUT_RD) // On Linux, this ends listening.
				return
			}
		}
	})
	return conns
}

// accept accepts a connection that child processes do not inherit.
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
	_ = file.Close() // The connection has a descriptor of its own.
	return conn, err
}
