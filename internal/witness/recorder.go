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
	maxEvents = 1 << 14 // capacity of a Recorder in events: some minutes of a busy shop, in a few megabytes
	maxBatch  = 64      // events that a watcher gets at a time, so that the recorder never describes many in advance
)

// Recorder records what the sales of one replica do with their lock. It is a service.Observer and an http.Handler, and has a go-redis hook
// for each client. It sends no commands to Redis, and its memory is bounded: it drops the oldest events. Its methods may be called
// concurrently.
type Recorder struct {
	replica   string           // name of the replica
	now       func() time.Time // clock
	maxEvents int              // largest number of notes

	mu          sync.Mutex             // guards the fields below
	process     string                 // unique name of the replica's process
	notes       []note                 // recorded events, oldest first
	lastID      uint64                 // id of the newest note
	saleCount   int                    // number of sales begun so far
	activeSales map[string]*activeSale // sales that have begun and not ended, by owner value
	noSale      *activeSale            // poll counters of commands that belong to no sale
	changed     chan struct{}          // closed when there is another event; nil while no watcher waits
	closed      bool                   // Close was called: all streams end
}

// activeSale is a sale that has begun and not ended.
type activeSale struct {
	name  string             // short name, such as r1#3
	owner string             // owner value
	run   string             // id of the run
	polls map[int]*pollState // poll states by node; 0: the Redis with the stock
}

// newActiveSale returns a sale that has sent nothing yet.
func newActiveSale(name, owner string) *activeSale {
	return &activeSale{name: name, owner: owner, polls: map[int]*pollState{}}
}

// pollState counts the attempts that a sale repeats in vain on one Redis.
type pollState struct {
	refusedCommand string    // last command, if it was refused; otherwise empty
	repeats        int       // number of unrecorded repetitions of refusedCommand
	lastSent       time.Time // time of the last repetition
}

// saleKey is the context key of the active sale.
type saleKey struct{}

// NewRecorder returns the recorder of a replica. The name of its process must differ from those of all other processes.
func NewRecorder(replica, process string, now func() time.Time) *Recorder {
	return &Recorder{
		replica: replica, process: process, now: now, maxEvents: maxEvents, activeSales: map[string]*activeSale{},
		noSale: newActiveSale("", ""),
	}
}

// Follow gives a sale its short name, for service.Observer. Commands with the returned context are recorded under that name.
func (r *Recorder) Follow(ctx context.Context, run, owner string) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saleCount++
	s := newActiveSale(fmt.Sprintf("%s#%d", r.replica, r.saleCount), owner)
	s.run = run
	r.activeSales[owner] = s
	return context.WithValue(ctx, saleKey{}, s)
}

// Observe records a moment of a sale, for service.Observer. It does not record Misses and Conflicts: a sale that does not get the lock ends
// with an error that says so.
func (r *Recorder) Observe(ctx context.Context, seen service.SaleEvent) {
	s, _ := ctx.Value(saleKey{}).(*activeSale)
	if s == nil || seen.Moment == service.Misses || seen.Moment == service.Conflicts {
		return
	}
	at := r.now()
	event := Event{
		Replica: r.replica, Kind: Kind(seen.Moment), Sale: s.name, Sent: at, Replied: at, Token: seen.Token, Segment: seen.Segment,
	}
	if seen.Err != nil {
		event.Error, event.Code = seen.Err.Error(), reason.FromError(seen.Err).Code
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

// Note records an event of the replica itself, as far as the replica can know it.
func (r *Recorder) Note(kind Kind) {
	at := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(note{event: Event{Replica: r.replica, Kind: kind, Sent: at, Replied: at}})
}

// Close ends all streams.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.notifyWatchers()
}

// Relay records an event of another recorder's stream, as it was sent, for the watchers of this recorder. A recorder that relays records
// nothing itself. When the other recorder has dropped events, or belongs to a new process, Relay drops all events before them, too. It
// fails if the event's id is malformed.
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
	r.notes, r.lastID = nil, id // watchers get a gap up to this id
	r.notifyWatchers()
	return nil
}

// add appends a note, and drops the oldest if there are too many. The caller holds r.mu.
func (r *Recorder) add(n note) {
	r.lastID++
	n.event.ID = r.lastID
	if r.notes = append(r.notes, n); len(r.notes) > r.maxEvents {
		r.notes = r.notes[1:]
	}
	r.notifyWatchers()
}

// notifyWatchers wakes up all watchers. The caller holds r.mu.
func (r *Recorder) notifyWatchers() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// notesAfter returns at most maxBatch notes after the last event that a watcher has seen, preceded by a gap if some were dropped. If there
// are fewer than maxBatch, it also returns a channel that is closed when there are more. The channel is nil if the recorder is closed.
func (r *Recorder) notesAfter(seen string) (process string, notes []note, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	after := lastSeenID(r.process, seen)
	first := r.lastID - uint64(len(r.notes)) // id before the oldest note
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

// note is a recorded event. Its command is described only when a watcher reads it, because that costs time that sales need.
type note struct {
	event   Event  // event, without the texts of its command
	args    []any  // arguments of the command; nil: the event is not a command
	reply   any    // reply to the command, if err is nil
	err     error  // error of the command; nil: Redis replied
	encoded []byte // JSON of the event, as another recorder sent it; otherwise nil
}

// describe returns the event with its command's texts.
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

// Hook returns a hook that records the commands of a client of the Redis with the stock.
func (r *Recorder) Hook() redis.Hook { return redisclient.Around(hook{recorder: r}.record) }

// HookOfNode returns a hook that records the commands of a client of one of several Redlock masters. node is 1-based; nodes is their
// number.
func (r *Recorder) HookOfNode(node, nodes int) redis.Hook {
	return redisclient.Around(hook{recorder: r, node: node, nodes: nodes}.record)
}

// hook records the commands of one client.
type hook struct {
	recorder    *Recorder // recorder that gets the commands
	node, nodes int       // 1-based Redlock master of the client, and the number of masters; 0: the client of the Redis with the stock
}

// record sends commands and records them. Of a transaction it records the commands of a sale that concern the lock or the stock.
func (h hook) record(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
	sent := h.recorder.now()
	err := send(ctx)
	switch {
	case len(commands) == 1:
		h.recordCommand(ctx, sent, commands[0], err)
	case ctx.Value(saleKey{}) != nil: // Transactions outside a sale, such as a reader's, are not recorded.
		for _, cmd := range commands {
			h.recordCommand(ctx, sent, cmd, cmd.Err())
		}
	}
	return err
}

// recordCommand records a command of a sale, a renewal, or a removal of the lock by hand, unless it concerns neither the lock nor the
// stock. Of the attempts of a sale that polls, it records the first refusal; the next different command has the number of repetitions. It
// does the same for renewals that fail.
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
	polls := s.pollsOn(h.node)
	if h.isFutileRelease(polls, m, err) {
		return
	}
	if polls.recordRepetition(m, cmd.Name(), h.node > 0 && isDialError(err)) {
		polls.repeats, polls.lastSent = polls.repeats+1, sent
		return
	}
	event.Command.Polls, event.Command.LastPoll = polls.repeats, polls.lastSent
	polls.repeats, polls.lastSent = 0, time.Time{}
	r.add(note{event: event, args: cmd.Args(), reply: replyValue(cmd), err: err})
}

// pollsOn returns the poll state of a node. The caller holds the recorder's mutex.
func (s *activeSale) pollsOn(node int) *pollState {
	if s.polls[node] == nil {
		s.polls[node] = &pollState{}
	}
	return s.polls[node]
}

// recordRepetition remembers a command for the next call. It reports whether both this command and the one before asked in vain for the
// lock or for its renewal. An attempt on a node that cannot be dialed is in vain, too.
func (p *pollState) recordRepetition(m meaning.Meaning, name string, unreachable bool) bool {
	refused := ""
	if m.Verb == Takes && (m.Outcome == Refused || unreachable) || m.Verb == Looks || m.Verb == Renews && m.Outcome == Unknown {
		refused = strings.Join([]string{name, string(m.Verb), string(m.Outcome)}, " ")
	}
	if refused != "" && refused == p.refusedCommand {
		return true
	}
	p.refusedCommand = refused
	return false
}

// isFutileRelease reports whether a command tries to release a lock on a node that has just refused the lock or was unreachable. Such
// commands occur because an attempt that gets no majority releases the lock on every node.
func (h hook) isFutileRelease(polls *pollState, m meaning.Meaning, err error) bool {
	return h.node > 0 && polls.refusedCommand != "" && m.Verb == Removes && (m.Outcome == ByOther || m.Outcome == ByNobody || isDialError(err))
}

// isDialError reports whether a command was not sent because there was no connection.
func isDialError(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

// holderName returns the short name of the owner in a command: the name of the sale or, if the owner is a process, the name of the replica.
// The caller holds r.mu.
func (r *Recorder) holderName(s *activeSale, owner string) string {
	switch {
	case s != nil && (owner == s.owner || !strings.HasPrefix(owner, lock.Key+":")):
		return s.name
	case r.activeSales[owner] != nil:
		return r.activeSales[owner].name
	case owner == "":
		return "" // sent by hand, by no sale
	default:
		return r.replica
	}
}

// canBeSaleOwner reports whether an owner value can belong to a sale, and not to this process or to an attempt of this process.
func (r *Recorder) canBeSaleOwner(owner string) bool {
	return strings.HasPrefix(owner, lock.Key+":") && !strings.Contains(owner, r.process)
}

// replyValue returns the reply of a command, whatever its type.
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
