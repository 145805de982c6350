//go:build unix

package server

import (
	"net"
	"os"
	"syscall"
)

// lastOf accepts what has connected to a listener, and refuses, where the system can, what comes from then on: what connects between that
// and the listener's Close is reset.
func lastOf(l *net.TCPListener) (conns []net.Conn) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil // it is closed
	}
	var files []*os.File
	_ = raw.Control(func(listening uintptr) {
		syscall.ForkLock.RLock() // no process that is started inherits the connections
		defer syscall.ForkLock.RUnlock()
		for {
			connected, _, err := syscall.Accept(int(listening))
			if err == syscall.EINTR || err == syscall.ECONNABORTED {
				continue
			}
			if err != nil {
				break // there are no more, or no more files
			}
			syscall.CloseOnExec(connected)
			files = append(files, os.NewFile(uintptr(connected), ""))
		}
		_ = syscall.Shutdown(int(listening), syscall.SHUT_RD) // Linux listens no more
	})
	for _, file := range files {
		if conn, err := net.FileConn(file); err == nil {
			conns = append(conns, conn)
		}
		_ = file.Close() // conn has one of its own
	}
	return conns
}
