package witness

import (
	"fmt"
	"strings"

	"lockstep/internal/lock"
)

// phrases are what the steps of a drawing say, beside the findings' sentences.
func phrases(Language) map[string]string {
	return map[string]string{
		"expires":            "%s's lock expires",
		"dies":               "%s dies",
		"stops":              "%s stops, timers and all",
		"goes-on":            "%s goes on",
		"held":               "a command of %s's is held on its way to Redis",
		"cut":                "%s is cut off from Redis",
		"mended":             "%s reaches Redis again",
		"message-lost":       "a message to %s is lost on its way",
		"freed":              "the command that was held reaches Redis",
		"emptied":            "%s restarts empty",
		"crashes":            "%s goes down",
		"lags":               "%s's replica hears nothing more of it",
		"fails-over":         "%s fails over to a replica that has not heard of the lock",
		"node/polls":         "%s asks node %d %d times more, in vain",
		"node/held":          "a command of %s's is held on its way to node %d",
		"node/cut":           "%s is cut off from node %d",
		"node/mended":        "%s reaches node %d again",
		"node/freed":         "the command that was held reaches node %[2]d",
		"unreached":          "%s has no reply from node %d",
		"on node":            " on node %d",
		"loses":              "%s is told that it lost the lock",
		"polls":              "%s asks %d times more, in vain",
		"sold":               "%s has sold",
		"fails":              "%s fails: %s",
		"unanswered":         "%s gets no reply",
		"takes/done":         "%s takes the lock",
		"takes/again":        "%s counts its lock",
		"takes/refused":      "%s finds the lock held",
		"looks/done":         "%s finds the lock to be %s's",
		"looks/nobody":       "%s finds no lock",
		"renews/done":        "%s renews its lock",
		"renews/by-other":    "%s finds that the lock is no longer its own",
		"renews/by-nobody":   "%s finds no lock",
		"removes/done":       "%s gives the lock back",
		"removes/passed":     "%s gives the lock back, or hands it on",
		"removes/again":      "%s keeps the lock",
		"removes/by-other":   "%s leaves the lock alone: it is another's by now",
		"removes/by-nobody":  "%s finds no lock any more",
		"reads/done":         "%s reads stock %d",
		"writes/done":        "%s writes stock %d",
		"reads/refused":      "%s is refused",
		"writes/refused":     "%s is refused",
		"reads/over":         "%s is refused: its run is over",
		"writes/over":        "%s is refused: its run is over",
		"somebody/done":      "somebody removes the lock by hand",
		"somebody/by-nobody": "somebody would remove the lock by hand, but there is none",
	}
}

// phrase fills one in.
func phrase(in Language, name string, values ...any) string {
	return fmt.Sprintf(phrases(in)[name], values...)
}

// saysOfCommand says what a command did.
func saysOfCommand(in Language, event Event) string {
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
	case phrases(in)[name] == "":
		return ""
	default:
		return phrase(in, name, actor(event))
	}
}

// saysOfEnd says how a sale ended.
func saysOfEnd(in Language, event Event) string {
	if event.Error == "" {
		return phrase(in, "sold", event.Sale)
	}
	return phrase(in, "fails", event.Sale, event.Error)
}

// saysOfNode says what a command did on one of several masters.
func saysOfNode(in Language, event Event, name string) string {
	switch {
	case event.Command.Outcome == Unknown:
		return phrase(in, "unreached", actor(event), event.Node)
	case actor(event) == "":
		return phrase(in, "somebody/"+string(event.Command.Outcome)) + onNode(in, event)
	case phrases(in)[name] == "":
		return ""
	default:
		return phrase(in, name, actor(event)) + onNode(in, event)
	}
}

// saysOfPolls says how often a sale asked before a command, unnoted.
func saysOfPolls(in Language, event Event) string {
	if event.Node > 0 {
		return phrase(in, "node/polls", actor(event), event.Node, event.Command.Polls)
	}
	return phrase(in, "polls", actor(event), event.Command.Polls)
}

// onNode says on which of several masters something happened.
func onNode(in Language, event Event) string {
	if event.Node == 0 {
		return ""
	}
	return phrase(in, "on node", event.Node)
}

// saysOfFault says what happened to a replica, or to a Redis.
func saysOfFault(in Language, event Event) string {
	name := string(event.Kind)
	switch {
	case event.Replica == "":
		return phrase(in, name, redisName(event.Node))
	case event.Node > 0:
		return phrase(in, "node/"+name, event.Replica, event.Node)
	case strings.Contains(phrases(in)[name], "%s"):
		return phrase(in, name, event.Replica)
	default:
		return phrase(in, name)
	}
}
