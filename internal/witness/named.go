package witness

import (
	"strings"

	"lockstep/internal/lock"
)

// named writes sales' short names for their owners, and replicas' for their processes, in the commands of all replicas.
func named(events []Event) {
	var pairs []string
	for _, event := range events {
		if event.Process != "" {
			pairs = append(pairs, event.Process, event.Replica)
		}
		if event.Owner != "" {
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
