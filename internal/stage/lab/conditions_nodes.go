package lab

import (
	"slices"

	"lockstep/internal/watch/witness"
)

// doesOn is a sale's command with this verb on a node.
func doesOn(node int, sale string, verb witness.Verb) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(events, func(e witness.Event) bool {
			return e.Node == node && e.Sale == sale && e.Command != nil && e.Command.Verb == verb
		})
	}
}
