package witness

import (
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service/reason"
)

// saysOfCommand says what a command did.
func saysOfCommand(in language.Language, event Event) string {
	c, name := event.Command, string(event.Command.Verb)+"/"+string(event.Command.Outcome)
	if event.Node > 0 {
		return saysOfNode(in, event, name)
	}
	switch {
	case c.Outcome == Unknown:
		return phrase(in, "unanswered", actor(event))
	case actor(event) == "":
		return phrase(in, "somebody/"+string(c.Outcome))
	case (c.Verb == Reads || c.Verb == Writes) && c.Outcome == Done:
		return phrase(in, name, event.Sale, c.Stock)
	case c.Verb == Looks && c.Reply == "nil":
		return phrase(in, "looks/nobody", actor(event))
	case c.Verb == Looks:
		return phrase(in, name, actor(event), strings.TrimPrefix(c.Reply, lock.Key+":"))
	case !isPhrase(name):
		return ""
	default:
		return phrase(in, name, actor(event))
	}
}

// saysOfEnd says how a sale ended.
func saysOfEnd(in language.Language, event Event) string {
	if event.Error == "" {
		return phrase(in, "sold", event.Sale)
	}
	return phrase(in, "fails", event.Sale, reason.In(in, event.Error))
}

// saysOfNode says what a command did on one of several masters.
func saysOfNode(in language.Language, event Event, name string) string {
	switch {
	case event.Command.Outcome == Unknown:
		return phrase(in, "unreached", actor(event), event.Node)
	case actor(event) == "":
		return phrase(in, "somebody/"+string(event.Command.Outcome)) + onNode(in, event)
	case !isPhrase(name):
		return ""
	default:
		return phrase(in, name, actor(event)) + onNode(in, event)
	}
}

// saysOfPolls says how often a sale asked before a command, unnoted.
func saysOfPolls(in language.Language, event Event) string {
	if event.Node > 0 {
		return phrase(in, "node/polls", actor(event), event.Node, event.Command.Polls)
	}
	return phrase(in, "polls", actor(event), event.Command.Polls)
}

// onNode says on which of several masters something happened.
func onNode(in language.Language, event Event) string {
	if event.Node == 0 {
		return ""
	}
	return phrase(in, "on node", event.Node)
}

// Says says what happened to a replica, or to a Redis; "" of another event.
func (e Event) Says(in language.Language) string {
	if _, is := faults()[e.Kind]; !is {
		return ""
	}
	return saysOfFault(in, e)
}

// saysOfFault says what happened to a replica, or to a Redis.
func saysOfFault(in language.Language, event Event) string {
	name := string(event.Kind)
	switch {
	case event.Replica == "":
		return phrase(in, name, redisIn(in, event.Node))
	case event.Node > 0:
		return phrase(in, "node/"+name, event.Replica, event.Node)
	case event.Kind == KindFreed:
		return phrase(in, name)
	default:
		return phrase(in, name, event.Replica)
	}
}
