//go:build !unix

package load

// OpenFileLimit knows of no limit.
func OpenFileLimit() (limit int, limited bool) { return 0, false }
