package simredis

import (
	"strconv"
)

// Keys returns the arguments of the command that are keys; for a script, the keys that it declares.
func (cmd *Command) Keys() []string { return cmd.keys }

// keysOf returns the arguments of a command that are keys. For most commands this is the first argument.
func keysOf(command string, args []string) []string {
	n := min(1, len(args))
	switch command {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO":
		if len(args) < 2 {
			return nil
		}
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 0 {
			return nil
		}
		return args[2:min(2+n, len(args))]
	case "PUBLISH", "SCRIPT", "MULTI", "EXEC", "PING":
		n = 0
	case "DEL", "UNLINK", "EXISTS", "TOUCH", "MGET", "SDIFF", "SDIFFSTORE", "SINTER", "SINTERSTORE", "SUNION", "SUNIONSTORE", "WATCH":
		n = len(args)
	case "RENAME", "RENAMENX", "COPY", "SMOVE", "LMOVE", "RPOPLPUSH":
		n = min(2, len(args))
	case "MSET", "MSETNX":
		var keys []string
		for i := 0; i < len(args); i += 2 {
			keys = append(keys, args[i])
		}
		return keys
	}
	return args[:n]
}
