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

// mostNames is how many sales have a name, many more than the account remembers.
const maxNames = 1 << 14

var shortName = regexp.MustCompile(`^r\d+$`)

// names are what a scene calls sales and replicas, from their events on: sales r1#A, r2#B, r1#C … in the order in which they asked, and
// replicas r1, r2, …, whatever their hosts are called. What is sent has the letters alone: see onlyLetters.
type displayNames struct {
	sales     map[string]string // by their own names
	saleCount int
	replicas  []string // their own names
}

func newDisplayNames(replicas []string) *displayNames {
	return &displayNames{sales: map[string]string{}, replicas: slices.Clone(replicas)}
}

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

// nameSale names a sale that asks for the lock, unless it goes on: a replica that was started again has new sales of old names.
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

// addReplicas takes a replica that is not known yet: it comes after the others, as each keeps its place and colour.
func (n *displayNames) addReplicas(replicas ...string) {
	for _, replica := range replicas {
		if replica != "" && !slices.Contains(n.replicas, replica) {
			n.replicas = append(n.replicas, replica)
		}
	}
}

// letterOf gives A to Z, AA, AB, ….
func saleLetters(i int) (letters string) {
	for i++; i > 0; i = (i - 1) / 26 {
		letters = string(rune('A'+(i-1)%26)) + letters
	}
	return letters
}

func (n *displayNames) replica(name string) string {
	i := slices.Index(n.replicas, name)
	if i < 0 || shortName.MatchString(name) {
		return name
	}
	return fmt.Sprintf("r%d", i+1)
}

func (n *displayNames) hosts() map[string]string {
	hosts := map[string]string{}
	for _, name := range n.replicas {
		hosts[n.replica(name)] = name
	}
	return hosts
}

func (n *displayNames) name(name string) string {
	if called := n.sales[name]; called != "" {
		return called
	}
	replica, number, is := strings.Cut(name, "#")
	if is { // it asked before anything was seen
		number = "#" + number
	}
	return n.replica(replica) + number
}

// onlyLetters returns a text in which sales are called A, B, C …. Frames are large and many: a regular expression takes too long.
func stripReplicas(text []byte) []byte {
	lettered := make([]byte, 0, len(text))
	for {
		before, after, found := bytes.Cut(text, []byte("#"))
		if !found {
			return append(lettered, text...)
		}
		replica := bytes.TrimRight(before, "0123456789")
		if len(replica) < len(before) && bytes.HasSuffix(replica, []byte("r")) && bytes.IndexFunc(after, unicode.IsUpper) == 0 {
			lettered = append(lettered, replica[:len(replica)-1]...)
		} else {
			lettered = append(append(lettered, before...), '#')
		}
		text = after
	}
}
