package witness

import (
	"strings"

	"lockstep/internal/lock"
)

// named writes sales' short names for their owners, and replicas' for their processes, in the commands of all replicas.
func named(events []Event) []Event {
	var pairs []string
	for _, event := range events {
		if event.Process != "" {
			pairs = append(pairs, event.Process, event.Replica)
		}
		if event.Kind == KindAsks && event.Owner != "" {
			pairs = append(pairs, event.Owner, event.Sale, strings.TrimPrefix(event.Owner, lock.Key+":"), event.Sale)
		}
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
	return events
}

// owners has sales' names, by their names in commands.
type owners map[string]string

// claimed gives a command that a sale's name is in, though the sale had ended when it was sent, to that sale.
func (o owners) claimed(event Event) Event {
	if event.Kind == KindAsks && event.Owner != "" {
		o[event.Owner] = event.Sale
	}
	if sale := o[event.Owner]; sale != "" && event.Command != nil {
		command := *event.Command
		event.Sale, command.Holder = sale, sale
		event.Command = &command
	}
	return event
}
