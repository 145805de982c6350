//go:build unix && !linux

package server

// refuseNewConnections returns false: on these systems a listening socket cannot filter new connections.
func refuseNewConnections(int) bool { return false }
