package live

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"lockstep/internal/witness"
)

// maxNames is the largest number of sales with a displayed name: many more than the account remembers.
const maxNames = 1 << 14

// shortName matches the names r1, r2, …, which are displayed unchanged.
var shortName = regexp.MustCompile(`^r\d+$`)

// displayNames has the names that a scene gives to sales and replicas. They replace the original names in all events. Sales are called
// r1#A, r2#B, r1#C … in the order in which they asked for the lock; replicas r1, r2, … whatever their hosts are called. Frames only have
// the letters of sales; see stripReplicas.
type displayNames struct {
	sales     map[string]string // displayed names, by the sales' original names
	saleCount int               // number of sales that have been named
	replicas  []string          // original names of the replicas, in the order of their displayed names
}

// newDisplayNames returns names for these replicas, and for no sales yet.
func newDisplayNames(replicas []string) *displayNames {
	return &displayNames{sales: map[string]string{}, replicas: slices.Clone(replicas)}
}

// rename returns an event in which displayed names replace all names.
func (n *displayNames) rename(e witness.Event) witness.Event {
	n.addReplicas(e.Replica)
	e.Replica, e.Sale = n.replica(e.Replica), n.name(e.Sale)
	if e.Command != nil {
		command := *e.Command
		command.Holder = n.name(command.Holder)
		e.Command = &command
	}
	return e
}

// nameSale gives a displayed name to a sale that asks for the lock, unless it already has one. An active sale with the same original name
// is the same sale. If that sale has ended, the replica was restarted, and this is another sale.
func (n *displayNames) nameSale(account *witness.Account, event witness.Event) {
	if name := n.sales[event.Sale]; name != "" {
		if s := account.Sale(name); s != nil && s.EndedAt.IsZero() {
			return
		}
	}
	n.addReplicas(event.Replica)
	n.sales[event.Sale] = n.replica(event.Replica) + "#" + saleLetters(n.saleCount)
	if n.saleCount++; len(n.sales) > maxNames {
		maps.DeleteFunc(n.sales, func(own, name string) bool { return own != event.Sale && account.Sale(name) == nil })
	}
}

// addReplicas adds replicas that are not known yet. They come after the known ones, so that each replica keeps its place and colour.
func (n *displayNames) addReplicas(replicas ...string) {
	for _, replica := range replicas {
		if replica != "" && !slices.Contains(n.replicas, replica) {
			n.replicas = append(n.replicas, replica)
		}
	}
}

// saleLetters returns A to Z, AA, AB, … for 0, 1, …
func saleLetters(i int) (letters string) {
	for i++; i > 0; i = (i - 1) / 26 {
		letters = string(rune('A'+(i-1)%26)) + letters
	}
	return letters
}

// replica returns the displayed name of a replica.
func (n *displayNames) replica(name string) string {
	i := slices.Index(n.replicas, name)
	if i < 0 || shortName.MatchString(name) {
		return name
	}
	return fmt.Sprintf("r%d", i+1)
}

// hosts returns the original names of the replicas, by their displayed names.
func (n *displayNames) hosts() map[string]string {
	hosts := map[string]string{}
	for _, name := range n.replicas {
		hosts[n.replica(name)] = name
	}
	return hosts
}

// name returns the displayed name of a sale or a replica.
func (n *displayNames) name(name string) string {
	if displayed := n.sales[name]; displayed != "" {
		return displayed
	}
	replica, number, ok := strings.Cut(name, "#")
	if ok { // The sale asked for the lock before the first known event.
		number = "#" + number
	}
	return n.replica(replica) + number
}

// stripReplicas removes the replica from the names of sales: r1#A becomes A. It does not use a regular expression, which would take too
// long for many large frames.
func stripReplicas(text []byte) []byte {
	stripped := make([]byte, 0, len(text))
	for {
		before, after, found := bytes.Cut(text, []byte("#"))
		if !found {
			return append(stripped, text...)
		}
		replica := bytes.TrimRight(before, "0123456789")
		if len(replica) < len(before) && bytes.HasSuffix(replica, []byte("r")) && bytes.IndexFunc(after, unicode.IsUpper) == 0 {
			stripped = append(stripped, replica[:len(replica)-1]...)
		} else {
			stripped = append(append(stripped, before...), '#')
		}
		text = after
	}
}
