//go:build unix && !linux

package server

// refuseNew is for systems where a listening socket hears whoever connects.
func refuseNew(int) bool { return false }
