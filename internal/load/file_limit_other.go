//go:build !unix

package load

// OpenFileLimit returns no limit: this system has none.
func OpenFileLimit() (limit int, limited bool) { return 0, false }
