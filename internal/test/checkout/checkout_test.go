// Package checkout tests what only the whole checkout shows: that the documents say what the program does, and that undone cures are seen.
package checkout

import (
	"fmt"
	"os"
	"testing"
)

// The tests work in the checkout's root, as a reader does.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
