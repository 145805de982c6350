// Package live shows a shop to those who watch it: what its locks do, as frames that a page draws.
//
// Frames are values (frames.go).
package live
