package witness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/api/sse"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/redis/meaning"
	"lockstep/internal/service"
	"lockstep/internal/service/reason"
)

const (
	maxEvents = 1 << 14 // that a Recorder keeps
	maxBatch  = 64      // that a watcher is told of at a time: no others are described for it meanwhile
)

// Recorder notes what the sales of one replica do with their lock. It is a service.Observer and an http.Handler, and has a go-redis hook
// for each client. It sends Redis nothing, and its memory is bounded: it forgets the oldest events.
type Recorder struct {
	replica   string
	now       func() time.Time
	maxEvents int

	mu          sync.Mutex
	process     string // a name that no other process has
	notes       []note // the newest last
	lastID      uint64 // its id
	saleCount   int    // sales
	activeSales map[string]*activeSale
	noSale      *activeSale   // in whose name the commands of no sale are counted
	changed     chan struct{} // closed when there is another event; nil while nobody waits for one
	closed      bool
}

// sale is one that goes on.
type activeSale struct {
	name  string
	owner string
	run   string
	polls map[int]*pollState // by node
}

func newActiveSale(name, owner string) *activeSale {
	return &activeSale{name: name, owner: owner, polls: map[int]*pollState{}}
}

// inVain is how a sale asked one Redis for the lock last.
type pollState struct {
	refusedCommand string    // its last command, if that asked in vain
	repeats        int       // that it did the same after that
	lastSent       time.Time // the last of these
}

type saleKey struct{}

// NewRecorder makes the recorder of a replica, whose process has a name that no other has.
func NewRecorder(replica, process string, now func() time.Time) *Recorder {
	return &Recorder{replica: replica, process: process, now: now, maxEvents: maxEvents, activeSales: map[string]*activeSale{}, noSale: newActiveSale("", "")}
}

// Follow implements service.Observer: it gives the sale its short name.
func (r *Recorder) Follow(ctx context.Context, run, owner string) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saleCount++
	s := newActiveSale(fmt.Sprintf("%s#%d", r.replica, r.saleCount), owner)
	s.run = run
	r.activeSales[owner] = s
	return context.WithValue(ctx, saleKey{}, s)
}

// Observe implements service.Observer. A sale without a lock ends with the error that says so.
func (r *Recorder) Observe(ctx context.Context, seen service.Seen) {
	s, _ := ctx.Value(saleKey{}).(*activeSale)
	if s == nil || seen.Moment == service.Misses || seen.Moment == service.Conflicts {
		return
	}
	at := r.now()
	event := Event{
		Replica: r.replica, Kind: Kind(seen.Moment), Sale: s.name, Sent: at, Replied: at, Token: seen.Token, Segment: seen.Segment,
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
		delete(r.activeSales, s.owner)
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
	r.notifyWatchers()
}

// Repeat notes the next event of another recorder's stream, as it was sent, for watchers of this one, which notes nothing of its own. When
// the other has forgotten events, or is of a new process, all before are forgotten here, too.
func (r *Recorder) Relay(sent sse.Event) error {
	process, number, _ := strings.Cut(sent.ID, ":")
	id, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if process != r.process {
		r.process, r.notes, r.lastID = process, nil, 0
	}
	if id == r.lastID+1 {
		r.add(note{encoded: sent.Data})
		return nil
	}
	r.notes, r.lastID = nil, id // it is a gap up to this one
	r.notifyWatchers()
	return nil
}

// add keeps a note. r.mu is held.
func (r *Recorder) add(n note) {
	r.lastID++
	n.event.ID = r.lastID
	if r.notes = append(r.notes, n); len(r.notes) > r.maxEvents {
		r.notes = r.notes[1:]
	}
	r.notifyWatchers()
}

func (r *Recorder) notifyWatchers() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// since gives the next notes after the event that a watcher has seen last, as far as they are kept; with a gap first, if some are not. If
// they are fewer than mostAtOnce, it also gives a channel that is closed when there are more, nil if there will be none.
func (r *Recorder) notesAfter(seen string) (process string, notes []note, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	after := lastSeenID(r.process, seen)
	first := r.lastID - uint64(len(r.notes)) // the id before the oldest
	if after < first {
		notes = append(notes, note{event: Event{ID: first, Replica: r.replica, Kind: KindGap}})
	}
	left := r.notes[min(max(after, first), r.lastID)-first:]
	notes = append(notes, left[:min(len(left), maxBatch)]...)
	if len(notes) < maxBatch && r.changed == nil && !r.closed {
		r.changed = make(chan struct{})
	}
	return r.process, notes, r.changed
}

// note is an event that is described only when somebody reads it.
type note struct {
	event   Event
	args    []any // of a command
	reply   any
	err     error
	encoded []byte // as JSON, by another recorder
}

func (n note) describe() Event {
	if n.args == nil {
		return n.event
	}
	command := *n.event.Command
	command.Name, command.Text = meaning.Describe(n.args)
	switch {
	case errors.Is(n.err, redis.Nil):
		command.Reply = "nil"
	case n.err == nil:
		command.Reply = fmt.Sprint(n.reply)
	case rediserr.IsAnswer(n.err):
		command.Reply = "error " + n.err.Error()
	default:
		n.event.Error = n.err.Error()
	}
	n.event.Command = &command
	return n.event
}

// Hook notes the commands of a client: of the Redis with the stock.
func (r *Recorder) Hook() redis.Hook { return redisclient.Around(hook{recorder: r}.record) }

// HookOfNode notes the commands of a client of one of so many masters that a lock is on. It is counted from 1.
func (r *Recorder) HookOfNode(node, nodes int) redis.Hook {
	return redisclient.Around(hook{recorder: r, node: node, nodes: nodes}.record)
}

// hook is the recorder's on one client.
type hook struct {
	recorder    *Recorder
	node, nodes int
}

// record notes a command. Of a transaction it notes those of a sale that are about the lock or the stock.
func (h hook) record(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	sent := h.recorder.now()
	err := send(ctx)
	switch {
	case len(commands) == 1:
		h.recordCommand(ctx, sent, commands[0], err)
	case ctx.Value(saleKey{}) != nil: // of others, such as those that only look at the lock, nothing is noted
		for _, cmd := range commands {
			h.recordCommand(ctx, sent, cmd, cmd.Err())
		}
	}
	return err
}

// recordCommand notes a command of a sale, of a renewal, or of somebody who removes the lock by hand; not one that is about neither the
// lock nor the stock. Of a sale that polls it notes the first refusal; the next command that is not another one counts them. So it does
// with renewals that fail.
func (h hook) recordCommand(ctx context.Context, sent time.Time, cmd redis.Cmder, err error) {
	r := h.recorder
	s, _ := ctx.Value(saleKey{}).(*activeSale)
	m := meaning.Of(cmd.Args(), replyValue(cmd), err)
	if m.Verb == "" || s == nil && (m.Verb == Reads || m.Verb == Looks) {
		return
	}
	replied := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == nil {
		s = r.activeSales[m.Owner]
	}
	event := Event{
		Replica: r.replica, Kind: KindCommand, Sent: sent, Replied: replied, Token: m.Token, Segment: m.Segment, Node: h.node, Nodes: h.nodes,
		Command: &Command{
			Verb: m.Verb, Outcome: m.Outcome, Holder: r.holderName(s, m.Owner), TTL: Millis(m.TTL), Stock: m.Stock, Forced: m.Forced,
		},
	}
	if s == nil {
		if r.canBeSaleOwner(m.Owner) {
			event.Owner = m.Owner
		}
		s = r.noSale
	}
	event.Sale = s.name
	vain := s.pollsOn(h.node)
	if h.isFutileRelease(vain, m, err) {
		return
	}
	if vain.isRepeatedBy(m, cmd.Name(), h.node > 0 && isDialError(err)) {
		vain.repeats, vain.lastSent = vain.repeats+1, sent
		return
	}
	event.Command.Polls, event.Command.LastPoll = vain.repeats, vain.lastSent
	vain.repeats, vain.lastSent = 0, time.Time{}
	r.add(note{event: event, args: cmd.Args(), reply: replyValue(cmd), err: err})
}

// at is how the sale asked a node last. The recorder's mutex is held.
func (s *activeSale) pollsOn(node int) *pollState {
	if s.polls[node] == nil {
		s.polls[node] = &pollState{}
	}
	return s.polls[node]
}

// repeats reports whether a command asks for the lock, or for its renewal, in vain as the one before did. One for a node that is not there
// is in vain, too.
func (v *pollState) isRepeatedBy(m meaning.Meaning, name string, nobodyThere bool) bool {
	refused := ""
	if m.Verb == Takes && (m.Outcome == Refused || nobodyThere) || m.Verb == Looks || m.Verb == Renews && m.Outcome == Unknown {
		refused = strings.Join([]string{name, string(m.Verb), string(m.Outcome)}, " ")
	}
	if refused != "" && refused == v.refusedCommand {
		return true
	}
	v.refusedCommand = refused
	return false
}

// isUndoneBy reports whether a command gives back what a node has just refused, or has not heard of: an attempt without a majority gives
// back what it may have, on every node.
func (h hook) isFutileRelease(vain *pollState, m meaning.Meaning, err error) bool {
	return h.node > 0 && vain.refusedCommand != "" && m.Verb == Removes && (m.Outcome == ByOther || m.Outcome == ByNobody || isDialError(err))
}

func isDialError(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

// holder says in whose name a command is: of its sale, unless it names a process. r.mu is held.
func (r *Recorder) holderName(s *activeSale, owner string) string {
	switch {
	case s != nil && (owner == s.owner || !strings.HasPrefix(owner, lock.Key+":")):
		return s.name
	case r.activeSales[owner] != nil:
		return r.activeSales[owner].name
	case owner == "":
		return "" // somebody who is no sale, by hand
	default:
		return r.replica
	}
}

// isOfSale reports whether a name in a command can be a sale's: not the process's, nor that of one of its attempts.
func (r *Recorder) canBeSaleOwner(owner string) bool {
	return strings.HasPrefix(owner, lock.Key+":") && !strings.Contains(owner, r.process)
}

func replyValue(cmd redis.Cmder) any {
	switch cmd := cmd.(type) {
	case *redis.Cmd:
		return cmd.Val()
	case *redis.IntCmd:
		return cmd.Val()
	case *redis.StatusCmd:
		return cmd.Val()
	case *redis.StringCmd:
		return cmd.Val()
	case *redis.BoolCmd:
		return cmd.Val()
	default:
		return nil
	}
}
