package simredis

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Most commands of an exploration were sent before, and had the same reply. What the real client makes of such a command, and of such a
// reply, is remembered: writing and reading it anew would take most of the time.

// phrase is a command as the real client writes it, and what it reads in replies.
type phrase struct {
	command *Command           // nil: it is being written
	means   map[string]meaning // of replies
}

// meaning is what the client gave to the one who sent the command.
type meaning struct {
	value any
	err   error
}

// process lets a command out, by next if it has something in it that is new.
func (c *Client) process(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
	words, usual := c.memory.words(cmd)
	if !usual || c.connecting {
		return next(ctx, cmd)
	}
	known := c.memory.phrases[string(words)]
	switch {
	case known == nil:
		known = &phrase{means: map[string]meaning{}}
		c.memory.phrases[string(words)] = known
	case known.command != nil && known.command.plain:
		reply, err := c.network.Receive(nil, c.server, known.command, nil)
		if err != nil {
			return err
		}
		if m, ok := known.means[string(reply)]; ok {
			m.give(cmd)
			return m.err
		}
		c.read = reply
	}
	c.phrase = known
	defer func() { c.phrase, c.read = nil, nil }()
	err := next(ctx, cmd)
	if m, ok := meant(cmd, err); ok && c.read != nil {
		known.means[string(c.read)] = m
	}
	return err
}

// hear takes down what the real client has written, and gives the reply to it.
func (c *Client) hear(conn *Conn, command *Command) (reply []byte, err error) {
	if c.read != nil {
		return c.read, nil
	}
	if reply, err = c.network.Receive(conn, c.server, command, nil); err == nil && c.phrase != nil {
		c.phrase.command, c.read = command, reply
	}
	return reply, err
}

// words writes what a command consists of, if that is of the usual types. It is good until the next.
func (m *Memory) words(cmd redis.Cmder) (words []byte, usual bool) {
	b := m.buffer[:0]
	defer func() { m.buffer = b }()
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
func meant(cmd redis.Cmder, err error) (m meaning, fixed bool) {
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
	m.value, fixed = copied(m.value)
	return m, fixed
}

// copied gives a value that nobody else can change, if that is of the usual types.
func copied(value any) (own any, usual bool) {
	switch value := value.(type) {
	case nil, string, int64, bool:
		return value, true
	case []any:
		list := make([]any, len(value))
		for i := range value {
			if list[i], usual = copied(value[i]); !usual {
				return nil, false
			}
		}
		return list, true
	default:
		return nil, false
	}
}

// give gives it to a command of the same type.
func (m meaning) give(cmd redis.Cmder) {
	switch cmd := cmd.(type) {
	case *redis.Cmd:
		own, _ := copied(m.value)
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
