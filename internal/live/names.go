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
const mostNames = 1 << 14

var short = regexp.MustCompile(`^r\d+$`)

// names are what a scene calls sales and replicas, from their events on: sales r1#A, r2#B, r1#C … in the order in which they asked, and
// replicas r1, r2, …, whatever their hosts are called. What is sent has the letters alone: see onlyLetters.
type names struct {
	sales    map[string]string // by their own names
	named    int
	replicas []string // their own names
}

func newNames(replicas []string) *names {
	return &names{sales: map[string]string{}, replicas: slices.Clone(replicas)}
}

func (n *names) event(e witness.Event) witness.Event {
	n.addReplicas(e.Replica)
	e.Replica, e.Sale = n.replica(e.Replica), n.of(e.Sale)
	if e.Command != nil {
		command := *e.Command
		command.Holder = n.of(command.Holder)
		e.Command = &command
	}
	return e
}

// nameSale names a sale that asks for the lock, unless it goes on: a replica that was started again has new sales of old names.
func (n *names) nameSale(account *witness.Account, event witness.Event) {
	if name := n.sales[event.Sale]; name != "" {
		if s := account.Sale(name); s != nil && s.EndedAt.IsZero() {
			return
		}
	}
	n.addReplicas(event.Replica)
	n.sales[event.Sale] = n.replica(event.Replica) + "#" + letterOf(n.named)
	if n.named++; len(n.sales) > mostNames {
		maps.DeleteFunc(n.sales, func(own, name string) bool { return own != event.Sale && account.Sale(name) == nil })
	}
}

// addReplicas takes a replica that is not known yet: it comes after the others, as each keeps its place and colour.
func (n *names) addReplicas(replicas ...string) {
	for _, replica := range replicas {
		if replica != "" && !slices.Contains(n.replicas, replica) {
			n.replicas = append(n.replicas, replica)
		}
	}
}

// letterOf gives A to Z, AA, AB, ….
func letterOf(i int) (letters string) {
	for i++; i > 0; i = (i - 1) / 26 {
		letters = string(rune('A'+(i-1)%26)) + letters
	}
	return letters
}

func (n *names) replica(name string) string {
	i := slices.Index(n.replicas, name)
	if i < 0 || short.MatchString(name) {
		return name
	}
	return fmt.Sprintf("r%d", i+1)
}

func (n *names) hosts() map[string]string {
	hosts := map[string]string{}
	for _, name := range n.replicas {
		hosts[n.replica(name)] = name
	}
	return hosts
}

func (n *names) of(name string) string {
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
func onlyLetters(text []byte) []byte {
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
