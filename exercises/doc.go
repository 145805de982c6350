// Package exercises has no code but the pages: each directory is an exercise, a lock with one flaw. docs/exercises.md lists them.
package exercises

import "embed"

// Pages are the README files of the exercises, in each language.
//
//go:embed */README*.md
var Pages embed.FS
