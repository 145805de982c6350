package witness

import (
	"strings"

	"lockstep/internal/lock"
)

// named writes sales' short names for their owners, and replicas' for their processes, in the commands of all replicas.
func named(events []Event) {
	claimed(events)
	var pairs []string
	for _, event := range events {
		if event.Process != "" {
			pairs = append(pairs, event.Process, event.Replica)
		}
		if event.Kind == KindAsks && event.Owner != "" {
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
		events[i].Command = &command
	}
}

// claimed gives each command that a sale's name is in, though the sale had ended when it was sent, to that sale.
func claimed(events []Event) {
	sales := map[string]string{} // by owner
	for _, event := range events {
		if event.Kind == KindAsks && event.Owner != "" {
			sales[event.Owner] = event.Sale
		}
	}
	for i, event := range events {
		if sale := sales[event.Owner]; sale != "" && event.Command != nil {
			command := *event.Command
			events[i].Sale, command.Holder = sale, sale
			events[i].Command = &command
		}
	}
}
