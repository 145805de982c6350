package witness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua/meaning"
)

// note is an event that is described only when somebody reads it.
type note struct {
	event Event
	args  []any // of a command
	reply any
	err   error
}

func (n note) described() Event {
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
	s, _ := ctx.Value(saleKey{}).(*sale)
	m := meaning.Of(cmd.Args(), replyOf(cmd), err)
	if m.Verb == "" || s == nil && (m.Verb == Reads || m.Verb == Looks) {
		return
	}
	replied := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == nil {
		s = r.sales[m.Owner]
	}
	event := Event{
		Replica: r.replica, Kind: KindCommand, Sent: sent, Replied: replied, Token: m.Token, Node: h.node, Nodes: h.nodes,
		Command: &Command{
			Verb: m.Verb, Outcome: m.Outcome, Holder: r.holder(s, m.Owner), TTL: Millis(m.TTL), Stock: m.Stock, Forced: m.Forced,
		},
	}
	if s == nil {
		if r.isOfSale(m.Owner) {
			event.Owner = m.Owner
		}
		s = r.own
	}
	event.Sale = s.name
	vain := s.at(h.node)
	if h.isUndoneBy(vain, m, err) || vain.repeats(m, cmd.Name(), h.node > 0 && isUnsent(err)) {
		return
	}
	event.Command.Polls, vain.times = vain.times, 0
	r.add(note{event: event, args: cmd.Args(), reply: replyOf(cmd), err: err})
}

// at is how the sale asked a node last. The recorder's mutex is held.
func (s *sale) at(node int) *inVain {
	if s.vain[node] == nil {
		s.vain[node] = &inVain{}
	}
	return s.vain[node]
}

// repeats reports whether a command asks for the lock, or for its renewal, in vain as the one before did, and counts it. One for a node
// that is not there is in vain, too.
func (v *inVain) repeats(m meaning.Meaning, name string, nobodyThere bool) bool {
	refused := ""
	if m.Verb == Takes && (m.Outcome == Refused || nobodyThere) || m.Verb == Looks || m.Verb == Renews && m.Outcome == Unknown {
		refused = strings.Join([]string{name, string(m.Verb), string(m.Outcome)}, " ")
	}
	if refused != "" && refused == v.last {
		v.times++
		return true
	}
	v.last = refused
	return false
}

// isUndoneBy reports whether a command gives back what a node has just refused, or has not heard of: an attempt without a majority gives
// back what it may have, on every node.
func (h hook) isUndoneBy(vain *inVain, m meaning.Meaning, err error) bool {
	return h.node > 0 && vain.last != "" && m.Verb == Removes && (m.Outcome == ByOther || m.Outcome == ByNobody || isUnsent(err))
}

func isUnsent(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

// holder says in whose name a command is: of its sale, unless it names a process. r.mu is held.
func (r *Recorder) holder(s *sale, owner string) string {
	switch {
	case s != nil && (owner == s.owner || !strings.HasPrefix(owner, lock.Key+":")):
		return s.name
	case r.sales[owner] != nil:
		return r.sales[owner].name
	case owner == "":
		return "" // somebody who is no sale, by hand
	default:
		return r.replica
	}
}

// isOfSale reports whether a name in a command can be a sale's: not the process's, nor that of one of its attempts.
func (r *Recorder) isOfSale(owner string) bool {
	return strings.HasPrefix(owner, lock.Key+":") && !strings.Contains(owner, r.process)
}

func replyOf(cmd redis.Cmder) any {
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
