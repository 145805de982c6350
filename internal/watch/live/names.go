package live

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"lockstep/internal/trace"
	"lockstep/internal/watch/witness"
)

// mostNames is how many sales of a run have a name at a time: many more than are remembered.
const mostNames = 1 << 14

var (
	short   = regexp.MustCompile(`^r\d+$`)
	anySale = regexp.MustCompile(`[\w.-]+#\d+`)
)

// names are what sales and replicas are called in what is shown: sales A, B, C … in the order in which they asked, and replicas r1, r2, …,
// whatever their hosts are called.
type names struct {
	letters  map[string]string // by sale
	sales    map[string]string // by letter
	order    []string          // of letters
	named    int
	replicas []string
}

func newNames(replicas []string) *names {
	return &names{letters: map[string]string{}, sales: map[string]string{}, replicas: slices.Clone(replicas)}
}

// nameSale names a sale that asks for the lock, unless it goes on: a replica that was started again has new sales of old names.
func (n *names) nameSale(s *witness.Sale, event witness.Event) {
	n.addReplicas(event.Replica)
	if s != nil && s.Ended.IsZero() && n.letters[event.Sale] != "" {
		return
	}
	letter := letterOf(n.named)
	n.named++
	n.letters[event.Sale], n.sales[letter] = letter, event.Sale
	if n.order = append(n.order, letter); len(n.order) > mostNames {
		for _, old := range n.order[:mostNames/2] {
			if sale := n.sales[old]; n.letters[sale] == old {
				delete(n.letters, sale)
			}
			delete(n.sales, old)
		}
		n.order = slices.Clone(n.order[mostNames/2:])
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

// replica is what a replica is called.
func (n *names) replica(name string) string {
	i := slices.Index(n.replicas, name)
	if i < 0 || short.MatchString(name) {
		return name
	}
	return fmt.Sprintf("r%d", i+1)
}

// hosts are all replicas' own names, by what they are called.
func (n *names) hosts() map[string]string {
	hosts := map[string]string{}
	for _, name := range n.replicas {
		hosts[n.replica(name)] = name
	}
	return hosts
}

// of is what a sale or a replica is called.
func (n *names) of(name string) string {
	if letter := n.letters[name]; letter != "" {
		return letter
	}
	return n.replica(name)
}

// all are what several are called.
func (n *names) all(those []string) []string {
	if those == nil {
		return nil
	}
	called := []string{}
	for _, name := range those {
		called = append(called, n.of(name))
	}
	return called
}

// sale is the one of a letter, or of its own name.
func (n *names) sale(letter string) string {
	if sale := n.sales[letter]; sale != "" {
		return sale
	}
	return letter
}

// known is what is known by now: it does not change any more.
func (n *names) known() *names {
	return &names{letters: maps.Clone(n.letters), sales: maps.Clone(n.sales), replicas: slices.Clone(n.replicas)}
}

// finding has the names that are shown.
func (n *names) finding(f witness.Finding) witness.Finding {
	f.By, f.Of = n.of(f.By), n.of(f.Of)
	return f
}

// trace has the names that are shown.
func (n *names) trace(t trace.Trace) trace.Trace {
	for i, actor := range t.Actors {
		t.Actors[i] = n.of(actor)
	}
	for i := range t.Steps {
		step := &t.Steps[i]
		step.Actor, step.Lock, step.Says = n.of(step.Actor), n.of(step.Lock), n.text(step.Says)
		for j := range step.Nodes {
			step.Nodes[j].Lock = n.of(step.Nodes[j].Lock)
		}
	}
	t.Verdict = n.text(t.Verdict)
	return t
}

// text is one that names sales and replicas.
func (n *names) text(text string) string {
	text = anySale.ReplaceAllStringFunc(text, n.of)
	for _, name := range n.replicas {
		if called := n.replica(name); called != name {
			text = strings.ReplaceAll(text, name, called)
		}
	}
	return text
}
