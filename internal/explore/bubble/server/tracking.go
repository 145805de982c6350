package server

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// loggingScript wraps a script, and returns the script's calls and its reply. Client tracking needs every call: a client that has read a
// key must be told once of the next change of that key.
const loggingScript = `local outer, calls = redis, {}
local function logged(call)
	return function(name, ...)
		local reply, did = call(name, ...), "1"
		if reply == false or reply == 0 then did = "0" end
		calls[#calls + 1] = name .. " " .. did .. " " .. tostring((...)) -- the key
		return reply
	end -- of the call
end
local redis = setmetatable({call = logged(outer.call), pcall = logged(outer.pcall)}, {__index = outer})
local function script()
%s
end
local reply = script()
return {table.concat(calls, "\n"), reply}`

// call is a Redis command that a client or a script has executed.
type call struct {
	name, key string // name of the command, and its first argument
	hadEffect bool   // false: the reply says that the command changed nothing
}

// withLogging wraps the script of an EVAL in loggingScript.
func withLogging(command []string) []string {
	return append([]string{"EVAL", strings.Replace(loggingScript, "%s", command[1], 1)}, command[2:]...)
}

// splitLog separates the reply of a script from the calls that loggingScript recorded. Other commands count as their own call.
func splitLog(commands [][]string, reply []byte) (scriptReply []byte, calls []call) {
	if commands[0][0] != "EVAL" {
		for _, c := range commands {
			hadEffect := !bytes.HasPrefix(reply, []byte(":0")) && !bytes.HasPrefix(reply, []byte("$-1"))
			if len(c) > 1 {
				calls = append(calls, call{c[0], c[1], hadEffect})
			}
		}
		return reply, calls
	}
	head, rest, _ := bytes.Cut(reply, []byte("\r\n"))
	if len(head) == 0 || head[0] != '*' {
		return reply, nil
	}
	size, rest, _ := bytes.Cut(rest, []byte("\r\n"))
	n, _ := strconv.Atoi(string(size[1:]))
	for line := range strings.Lines(string(rest[:n])) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		calls = append(calls, call{name: words[0], hadEffect: words[1] == "1", key: words[2]})
	}
	if scriptReply = rest[n+2:]; len(scriptReply) == 0 {
		scriptReply = []byte("$-1\r\n")
	}
	return scriptReply, calls
}

// updateTracking does what Redis does for CLIENT TRACKING after calls on a connection. It records the keys that the calls have read, if the
// connection tracks its reads, and invalidates the keys that the calls have changed.
func (s *Server) updateTracking(conn *Conn, calls []call) {
	caching := conn.tracksNextRead
	conn.tracksNextRead = false
	for _, c := range calls {
		key := nodeKey{conn.Node, c.key}
		switch {
		case isRead(c.name):
			if (conn.isTracking || caching) && !slices.Contains(s.trackers[key], conn) {
				s.trackers[key] = append(s.trackers[key], conn)
			}
		case c.hadEffect:
			s.invalidate(key, conn)
		}
	}
}

// invalidate queues an invalidation for each connection that tracks a key. by is the connection that changed the key; nil: the key expired.
func (s *Server) invalidate(key nodeKey, by *Conn) {
	for _, conn := range s.trackers[key] {
		if conn != by || conn.notifiesOwnChanges {
			conn.pendingPushes = append(conn.pendingPushes, invalidation(key.key))
		}
	}
	delete(s.trackers, key)
}
