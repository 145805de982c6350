package simredis

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Most commands of an exploration were sent before, and got the same reply. The bytes that the real client writes for such a command, and
// the result that it parses from such a reply, are cached: otherwise formatting and parsing would take most of the time.

// cachedCommand is a command as the real client writes it, and its parsed replies.
type cachedCommand struct {
	command *Command               // nil: it is being sent for the first time
	replies map[string]parsedReply // parsed replies by the bytes of the reply
}

// parsedReply is the result that the client returned to the sender of the command.
type parsedReply struct {
	value any   // value of the result
	err   error // error of the result
}

// sendCached sends a command. It uses the real client, next, only if the command or its reply is not cached.
func (client *Client) sendCached(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
	key, ok := client.sim.cacheKey(cmd)
	if !ok || client.isConnecting {
		return next(ctx, cmd)
	}
	entry := client.sim.cachedCommands[string(key)]
	switch {
	case entry == nil:
		entry = &cachedCommand{replies: map[string]parsedReply{}}
		client.sim.cachedCommands[string(key)] = entry
	case entry.command != nil && entry.command.isCacheable:
		reply, err := client.network.Receive(nil, client.server, entry.command, nil)
		if err != nil {
			return err
		}
		if parsed, ok := entry.replies[string(reply)]; ok {
			parsed.applyTo(cmd)
			return parsed.err
		}
		client.lastReply = reply
	}
	client.pendingEntry = entry
	defer func() { client.pendingEntry, client.lastReply = nil, nil }()
	err := next(ctx, cmd)
	if parsed, ok := captureReply(cmd, err); ok && client.lastReply != nil {
		entry.replies[string(client.lastReply)] = parsed
	}
	return err
}

// exchange sends what the real client has written, returns the reply, and completes the cache entry.
func (client *Client) exchange(conn *Conn, command *Command) (reply []byte, err error) {
	if client.lastReply != nil {
		return client.lastReply, nil
	}
	if reply, err = client.network.Receive(conn, client.server, command, nil); err == nil && client.pendingEntry != nil {
		client.pendingEntry.command, client.lastReply = command, reply
	}
	return reply, err
}

// cacheKey returns the key of a command in the cache; ok is false if commands of its type are not cached. The key is valid until the next
// call.
func (sim *Simulator) cacheKey(cmd redis.Cmder) (key []byte, ok bool) {
	b := sim.keyBuffer[:0]
	defer func() { sim.keyBuffer = b }()
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

// captureReply returns the result that the client has stored in cmd, and err; ok is false if the result cannot be cached.
func captureReply(cmd redis.Cmder, err error) (r parsedReply, ok bool) {
	r.err = err
	switch cmd := cmd.(type) {
	case *redis.Cmd:
		r.value = cmd.Val()
	case *redis.StatusCmd:
		r.value = cmd.Val()
	case *redis.StringCmd:
		r.value = cmd.Val()
	case *redis.IntCmd:
		r.value = cmd.Val()
	case *redis.BoolCmd:
		r.value = cmd.Val()
	}
	r.value, ok = copyValue(r.value)
	return r, ok
}

// copyValue returns a deep copy of a value; ok is false if values of its type cannot be cached. The copy protects the cache from callers.
func copyValue(value any) (deep any, ok bool) {
	switch value := value.(type) {
	case nil, string, int64, bool:
		return value, true
	case []any:
		list := make([]any, len(value))
		for i := range value {
			if list[i], ok = copyValue(value[i]); !ok {
				return nil, false
			}
		}
		return list, true
	default:
		return nil, false
	}
}

// applyTo sets the result of a command of the type from which the reply was captured.
func (r parsedReply) applyTo(cmd redis.Cmder) {
	switch cmd := cmd.(type) {
	case *redis.Cmd:
		value, _ := copyValue(r.value)
		cmd.SetVal(value)
	case *redis.StatusCmd:
		cmd.SetVal(r.value.(string))
	case *redis.StringCmd:
		cmd.SetVal(r.value.(string))
	case *redis.IntCmd:
		cmd.SetVal(r.value.(int64))
	case *redis.BoolCmd:
		cmd.SetVal(r.value.(bool))
	}
}
