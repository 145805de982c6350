//go:build !long

package suite

// Long reports whether the long suite is run.
const Long = false
