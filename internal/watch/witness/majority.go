package witness

import (
	"fmt"
	"slices"
	"time"
)

// onNodes is a lock on several masters: whose it is on each, and who has a majority of them. That is the holder.
type onNodes struct {
	holdings []Holding // of each
	majority []Holding
}

// followedOnNodes follows the key on every master that there is a command for.
func followedOnNodes(events []Event) onNodes {
	var l onNodes
	nodes := nodesOf(events)
	for node := 1; node <= nodes; node++ {
		for _, h := range followed(of(events, node)).holdings {
			h.Node = node
			l.holdings = append(l.holdings, h)
		}
	}
	l.count(nodes/2 + 1)
	return l
}

// of gives the events that concern one Redis: a master, or, for 0, the one with the stock. The moments of sales are about that one.
func of(events []Event, node int) (those []Event) {
	for _, event := range events {
		if event.Node == node {
			those = append(those, event)
		}
	}
	return those
}

// nodesOf is how many masters there are.
func nodesOf(events []Event) (n int) {
	for _, event := range events {
		n = max(n, event.Nodes)
	}
	return n
}

// redisName is a Redis's name in what is noted.
func redisName(node int) string {
	if node == 0 {
		return "Redis"
	}
	return fmt.Sprintf("node %d", node)
}

// change is the beginning or the end of a holding on one master.
type change struct {
	at    time.Time
	of    Holding
	gains bool
}

// count finds the times in which somebody has at least most of the masters.
func (l *onNodes) count(most int) {
	var changes []change
	for _, h := range l.holdings {
		changes = append(changes, change{at: h.From, of: h, gains: true})
		if h.End != Lasting {
			changes = append(changes, change{at: h.To, of: h})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	has := map[string]int{}
	for _, c := range changes {
		switch {
		case c.gains:
			if has[c.of.Holder]++; has[c.of.Holder] == most {
				l.majority = append(l.majority, Holding{Holder: c.of.Holder, From: c.at, Lasts: c.of.Lasts, set: c.of.set})
			}
		default:
			if has[c.of.Holder]--; has[c.of.Holder] == most-1 {
				l.end(c)
			}
		}
	}
}

// end ends a majority as its holder's holding on one master ended, without which it falls short. It is the holder's last one, and not
// always the last of all: a release whose reply comes late seems to come after the next holder's commands.
func (l *onNodes) end(c change) {
	at := len(l.majority) - 1
	for l.majority[at].Holder != c.of.Holder {
		at--
	}
	last := &l.majority[at]
	last.To, last.End, last.By, last.Lasts, last.lostOn = c.at, c.of.End, c.of.By, c.of.Lasts, c.of.Node
}

// found are the majorities that others ended, or that were forgotten.
func (l *onNodes) found() (found []Finding) {
	for _, h := range l.majority {
		if kind, is := map[End]FindingKind{Taken: Removed, Replaced: Overwrote, Forgotten: Forgot}[h.End]; is {
			found = append(found, Finding{Kind: kind, At: h.To, By: h.By, Of: h.Holder, Node: h.lostOn})
		}
	}
	return found
}
