//go:build !js

package search

// yield is for the one system where all goroutines share a thread.
func yield() {}
