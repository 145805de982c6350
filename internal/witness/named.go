package witness

import (
	"strings"

	"lockstep/internal/lock"
)

// named writes sales' short names for their owners, and replicas' for their processes, in the commands of all replicas. A command that a
// sale's name is in, though the sale has ended, is the sale's.
func named(events []Event) {
	var pairs []string
	sales := map[string]string{} // by owner
	for _, event := range events {
		if event.Process != "" {
			pairs = append(pairs, event.Process, event.Replica)
		}
		if event.Kind == KindAsks && event.Owner != "" {
			sales[event.Owner] = event.Sale
			pairs = append(pairs, event.Owner, event.Sale, strings.TrimPrefix(event.Owner, lock.Key+":"), event.Sale)
		}
	}
	if len(pairs) == 0 {
		return
	}
	names := strings.NewReplacer(pairs...)
	for i, event := range events {
		if event.Command == nil {
			continue
		}
		command := *event.Command
		command.Text, command.Reply = names.Replace(command.Text), names.Replace(command.Reply)
		if sale := sales[event.Owner]; sale != "" { // the sale had ended when the command was sent
			events[i].Sale, command.Holder = sale, sale
		}
		events[i].Command = &command
	}
}
