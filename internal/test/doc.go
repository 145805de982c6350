// Package test is a room: what only tests use. Nothing else may import it.
//
// In it: suite (the quick one or the long one), redistest (real Redis servers), shoptest (shops, and who asks them over HTTP), variants
// (locks that the explorer must judge), oracle (every answer of the explorer, as data), checkout (tests of the documents, of the build, and
// of undone cures).
// May import: everything.
// Begin with: suite.
package test
