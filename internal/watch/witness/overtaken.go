package witness

import "slices"

// manyOvertakes is how often a sale may be overtaken before it is worth a sentence: once, as in the explorer.
const manyOvertakes = 1

// queuer is a sale that waits for the lock.
type queuer struct {
	sale      string
	overtaken int // times
}

// overtaken finds the sales that waited while others, which had asked after them, obtained the lock. How often, is counted.
func (a Account) overtaken() (found []Finding) {
	var waiting []queuer // in the order in which they asked
	seen := map[string]bool{}
	find := func(q queuer, at Event) {
		if q.overtaken > manyOvertakes {
			found = append(found, Finding{Kind: Overtaken, At: at.Replied, By: q.sale, Times: q.overtaken})
		}
	}
	for _, event := range a.Events {
		switch event.Kind {
		case KindAsks:
			if !seen[event.Sale] { // not a nested call
				seen[event.Sale] = true
				waiting = append(waiting, queuer{sale: event.Sale})
			}
		case KindObtains, KindEnds:
			at := slices.IndexFunc(waiting, func(q queuer) bool { return q.sale == event.Sale })
			for i := 0; i < at && event.Kind == KindObtains; i++ {
				waiting[i].overtaken++
			}
			if at >= 0 {
				find(waiting[at], event)
				waiting = slices.Delete(waiting, at, at+1)
			}
		case KindDies:
			waiting = slices.DeleteFunc(waiting, func(q queuer) bool { return ReplicaOf(q.sale) == event.Replica })
		default:
		}
	}
	for _, q := range waiting { // they still do
		find(q, a.Events[len(a.Events)-1])
	}
	return found
}
