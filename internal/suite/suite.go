// Package suite, for tests alone, says which suite is run: the quick one, go test ./..., which has every claim in a form that
// leaves a laptop time for other things, or the long one, go test -tags long ./..., which has all of them as they are.
package suite

import "testing"

// LongOnly skips the test in the quick suite; the reason says where the quick one has the same in small.
func LongOnly(t testing.TB, reason string) {
	t.Helper()
	if !Long {
		t.Skip("only with -tags long: ", reason)
	}
}
