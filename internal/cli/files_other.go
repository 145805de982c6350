//go:build !unix

package cli

// openFileLimit knows of no limit.
func openFileLimit() (limit int, limited bool) { return 0, false }
