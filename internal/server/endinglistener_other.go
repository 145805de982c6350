//go:build !unix

package server

import "net"

// lastOf is for systems where nobody but net can accept.
func lastOf(*net.TCPListener) []net.Conn { return nil }
