package simredis

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Most commands of an exploration were sent before, and had the same reply. What the real client makes of such a command, and of such a
// reply, is remembered: writing and reading it anew would take most of the time.

// phrase is a command as the real client writes it, and what it reads in replies.
type cachedCommand struct {
	command *Command               // nil: it is being written
	replies map[string]parsedReply // of replies
}

// meaning is what the client gave to the one who sent the command.
type parsedReply struct {
	value any
	err   error
}

// process lets a command out, by next if it has something in it that is new.
func (c *Client) sendCached(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
	words, usual := c.memory.cacheKey(cmd)
	if !usual || c.connecting {
		return next(ctx, cmd)
	}
	known := c.memory.cachedCommands[string(words)]
	switch {
	case known == nil:
		known = &cachedCommand{replies: map[string]parsedReply{}}
		c.memory.cachedCommands[string(words)] = known
	case known.command != nil && known.command.isCacheable:
		reply, err := c.network.Receive(nil, c.server, known.command, nil)
		if err != nil {
			return err
		}
		if m, ok := known.replies[string(reply)]; ok {
			m.applyTo(cmd)
			return m.err
		}
		c.lastReply = reply
	}
	c.learning = known
	defer func() { c.learning, c.lastReply = nil, nil }()
	err := next(ctx, cmd)
	if m, ok := captureReply(cmd, err); ok && c.lastReply != nil {
		known.replies[string(c.lastReply)] = m
	}
	return err
}

// hear takes down what the real client has written, and gives the reply to it.
func (c *Client) exchange(conn *Conn, command *Command) (reply []byte, err error) {
	if c.lastReply != nil {
		return c.lastReply, nil
	}
	if reply, err = c.network.Receive(conn, c.server, command, nil); err == nil && c.learning != nil {
		c.learning.command, c.lastReply = command, reply
	}
	return reply, err
}

// words writes what a command consists of, if that is of the usual types. It is good until the next.
func (m *Simulator) cacheKey(cmd redis.Cmder) (words []byte, usual bool) {
	b := m.keyBuffer[:0]
	defer func() { m.keyBuffer = b }()
	switch cmd.(type) {
	case *redis.Cmd:
		b = append(b, "any"...)
	case *redis.StatusCmd, *redis.StringCmd:
		b = append(b, "text"...)
	case *redis.IntCmd:
		b = append(b, "number"...)
	case *redis.BoolCmd:
		b = append(b, "bool"...)
	default:
		return nil, false
	}
	for _, arg := range cmd.Args() {
		switch arg := arg.(type) {
		case string:
			b = append(append(strconv.AppendInt(append(b, " s"...), int64(len(arg)), 10), ' '), arg...)
		case []byte:
			b = append(append(strconv.AppendInt(append(b, " s"...), int64(len(arg)), 10), ' '), arg...)
		case int:
			b = strconv.AppendInt(append(b, " i"...), int64(arg), 10)
		case int64:
			b = strconv.AppendInt(append(b, " i"...), arg, 10)
		default:
			return nil, false
		}
	}
	return b, true
}

// meant returns what the client gave, if it is of the usual types.
func captureReply(cmd redis.Cmder, err error) (m parsedReply, fixed bool) {
	m.err = err
	switch cmd := cmd.(type) {
	case *redis.Cmd:
		m.value = cmd.Val()
	case *redis.StatusCmd:
		m.value = cmd.Val()
	case *redis.StringCmd:
		m.value = cmd.Val()
	case *redis.IntCmd:
		m.value = cmd.Val()
	case *redis.BoolCmd:
		m.value = cmd.Val()
	}
	m.value, fixed = copyValue(m.value)
	return m, fixed
}

// copied gives a value that nobody else can change, if that is of the usual types.
func copyValue(value any) (own any, usual bool) {
	switch value := value.(type) {
	case nil, string, int64, bool:
		return value, true
	case []any:
		list := make([]any, len(value))
		for i := range value {
			if list[i], usual = copyValue(value[i]); !usual {
				return nil, false
			}
		}
		return list, true
	default:
		return nil, false
	}
}

// give gives it to a command of the same type.
func (m parsedReply) applyTo(cmd redis.Cmder) {
	switch cmd := cmd.(type) {
	case *redis.Cmd:
		own, _ := copyValue(m.value)
		cmd.SetVal(own)
	case *redis.StatusCmd:
		cmd.SetVal(m.value.(string))
	case *redis.StringCmd:
		cmd.SetVal(m.value.(string))
	case *redis.IntCmd:
		cmd.SetVal(m.value.(int64))
	case *redis.BoolCmd:
		cmd.SetVal(m.value.(bool))
	}
}
