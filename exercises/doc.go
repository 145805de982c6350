// Package exercises has no code: each directory is an exercise, a lock with one flaw. docs/exercises.md lists them.
package exercises
