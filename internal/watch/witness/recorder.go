package witness

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lockstep/internal/service"
	"lockstep/internal/service/reason"
)

// mostEvents is how many a Recorder keeps.
const mostEvents = 1 << 14

// Recorder notes what the sales of one replica do with their lock. It is a service.Observer and an http.Handler, and has a go-redis hook
// for each client. It sends Redis nothing, and its memory is bounded: it forgets the oldest events.
type Recorder struct {
	replica string
	process string // a name that no other process has
	now     func() time.Time
	most    int

	mu     sync.Mutex
	notes  []note // a ring: event id is at (id-1) % most
	last   uint64 // id of the newest
	begun  int    // sales
	sales  map[string]*sale
	own    *sale         // in whose name the commands of no sale are counted
	news   chan struct{} // closed when there is another event; nil while nobody waits for one
	closed bool
}

// sale is one that goes on.
type sale struct {
	name  string
	owner string
	run   string
	vain  map[int]*inVain // by node
}

func newSale(name, owner string) *sale {
	return &sale{name: name, owner: owner, vain: map[int]*inVain{}}
}

// inVain is how a sale asked one Redis for the lock last.
type inVain struct {
	last  string // its last command, if that asked in vain
	times int    // that it did the same after that
}

type saleKey struct{}

// NewRecorder makes the recorder of a replica, whose process has a name that no other has.
func NewRecorder(replica, process string, now func() time.Time) *Recorder {
	return &Recorder{replica: replica, process: process, now: now, most: mostEvents, sales: map[string]*sale{}, own: newSale("", "")}
}

// Follow implements service.Observer: it gives the sale its short name.
func (r *Recorder) Follow(ctx context.Context, run, owner string) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	s := newSale(fmt.Sprintf("%s#%d", r.replica, r.begun), owner)
	s.run = run
	r.sales[owner] = s
	return context.WithValue(ctx, saleKey{}, s)
}

// Observe implements service.Observer. A sale without a lock ends with the error that says so.
func (r *Recorder) Observe(ctx context.Context, seen service.Seen) {
	s, _ := ctx.Value(saleKey{}).(*sale)
	if s == nil || seen.Moment == service.Misses || seen.Moment == service.Conflicts {
		return
	}
	at := r.now()
	event := Event{
		Replica: r.replica, Kind: Kind(seen.Moment), Sale: s.name, Sent: at, Replied: at, Token: seen.Token,
	}
	if seen.Err != nil {
		event.Error, event.Code = seen.Err.Error(), reason.Of(seen.Err).Code
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch seen.Moment {
	case service.Asks:
		event.Owner, event.Process, event.Run = s.owner, r.process, s.run
	case service.Ends:
		delete(r.sales, s.owner)
	default:
	}
	r.add(note{event: event})
}

// Note notes what happens to the replica itself, as far as it can know.
func (r *Recorder) Note(kind Kind) {
	at := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(note{event: Event{Replica: r.replica, Kind: kind, Sent: at, Replied: at}})
}

// Close ends the streams.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.tell()
}

// add keeps a note. r.mu is held.
func (r *Recorder) add(n note) {
	r.last++
	n.event.ID = r.last
	if len(r.notes) < r.most {
		r.notes = append(r.notes, n)
	} else {
		r.notes[(r.last-1)%uint64(r.most)] = n //nolint:gosec // it is positive
	}
	r.tell()
}

func (r *Recorder) tell() {
	if r.news != nil {
		close(r.news)
		r.news = nil
	}
}

// since gives the events after one, as far as they are kept; with a gap first, if some are not. It also gives a channel that is closed when
// there are more, nil if there will be none.
func (r *Recorder) since(after uint64) (events []Event, more <-chan struct{}) {
	r.mu.Lock()
	var kept []note
	first := r.last - uint64(len(r.notes)) // the id before the oldest
	gap := after < first
	for id := max(after, first) + 1; id <= r.last; id++ {
		kept = append(kept, r.notes[(id-1)%uint64(r.most)]) //nolint:gosec // it is positive
	}
	if r.news == nil && !r.closed {
		r.news = make(chan struct{})
	}
	more = r.news
	r.mu.Unlock()
	if gap {
		events = append(events, Event{ID: first, Replica: r.replica, Kind: KindGap})
	}
	for _, n := range kept {
		events = append(events, n.described()) // not under the mutex: the sales do not wait for it
	}
	return events, more
}
