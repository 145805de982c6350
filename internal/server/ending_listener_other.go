//go:build !unix

package server

import "net"

// acceptPending returns nothing: on these systems only package net can accept connections.
func acceptPending(*net.TCPListener) []net.Conn { return nil }
