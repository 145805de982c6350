package witness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// note is an event that is described only when somebody reads it.
type note struct {
	event Event
	args  []any // of a command
	reply any
	err   error
}

// described is the event in words.
func (n note) described() Event {
	if n.args == nil {
		return n.event
	}
	var words []string
	for _, arg := range n.args {
		words = append(words, textOf(arg))
	}
	command := *n.event.Command
	command.Name, command.Text = lua.Describe(words)
	switch {
	case errors.Is(n.err, redis.Nil):
		command.Reply = "nil"
	case n.err == nil:
		command.Reply = fmt.Sprint(n.reply)
	case isRefusal(n.err):
		command.Reply = "error " + n.err.Error()
	default:
		n.event.Error = n.err.Error()
	}
	n.event.Command = &command
	return n.event
}

// DialHook is part of redis.Hook.
func (r *Recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is part of redis.Hook.
func (r *Recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		sent := r.now()
		err := next(ctx, cmd)
		r.sawCommand(ctx, sent, cmd, err)
		return err
	}
}

// ProcessPipelineHook is part of redis.Hook. Of a transaction it notes the commands that are about the lock or the stock.
func (r *Recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		sent := r.now()
		err := next(ctx, cmds)
		if ctx.Value(saleKey{}) != nil { // of others, such as those that only look at the lock, nothing is noted
			for _, cmd := range cmds {
				r.sawCommand(ctx, sent, cmd, cmd.Err())
			}
		}
		return err
	}
}

// sawCommand notes a command of a sale, of a renewal, or of somebody who removes the lock by hand; not one that is about neither the lock
// nor the stock. Of a sale that polls it notes the first refusal; the next command that is not another one counts them.
func (r *Recorder) sawCommand(ctx context.Context, sent time.Time, cmd redis.Cmder, err error) {
	s, _ := ctx.Value(saleKey{}).(*sale)
	m := meaningOf(cmd.Args(), replyOf(cmd), err)
	if m.verb == "" || s == nil && (m.verb == Reads || m.verb == Looks) {
		return
	}
	replied := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == nil {
		s = r.sales[m.owner]
	}
	event := Event{
		Replica: r.replica, Kind: KindCommand, Sent: sent, Replied: replied, Token: m.token,
		Command: &Command{
			Verb: m.verb, Outcome: m.outcome, Holder: r.holder(s, m.owner), TTL: Millis(m.ttl), Stock: m.stock, Forced: m.forced,
		},
	}
	if s != nil {
		event.Sale = s.name
		if polls(s, m, cmd.Name()) {
			return
		}
		event.Command.Polls, s.polls = s.polls, 0
	} else if r.isOfSale(m.owner) {
		event.Owner = m.owner
	}
	r.add(note{event: event, args: cmd.Args(), reply: replyOf(cmd), err: err})
}

// polls reports whether a command asks for the lock, or for its renewal, in vain as the one before did, and counts it.
func polls(s *sale, m meaning, name string) bool {
	refused := ""
	if m.verb == Takes && m.outcome == Refused || m.verb == Looks || m.verb == Renews && m.outcome == Unknown {
		refused = name + " " + string(m.verb)
	}
	if refused != "" && refused == s.lastRefused {
		s.polls++
		return true
	}
	s.lastRefused = refused
	return false
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

// replyOf is what a command was answered.
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
