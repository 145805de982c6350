package server

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Client tracking needs what a script did, call by call: after a read of a key its client is told of the next change, once. So scripts
// run inside another one, which takes down each call.
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

// call is one that a script made.
type call struct {
	name, key string
	hadEffect bool // it had an effect, if it was to have one
}

// logged is a command whose script takes down what it calls.
func withLogging(command []string) []string {
	return append([]string{"EVAL", strings.Replace(loggingScript, "%s", command[1], 1)}, command[2:]...)
}

// takeLog separates the reply to a script from what it called. Other commands are what they call.
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

// follow keeps the table of who is told of what, as a command on a line does these calls.
func (s *Server) updateTracking(l *ServerConn, calls []call) {
	caching := l.tracksNextRead
	l.tracksNextRead = false
	for _, c := range calls {
		at := nodeKey{l.Node, c.key}
		switch {
		case isRead(c.name):
			if (l.isTracking || caching) && !slices.Contains(s.tracked[at], l) {
				s.tracked[at] = append(s.tracked[at], l)
			}
		case c.hadEffect:
			s.invalidate(at, l)
		}
	}
}

// invalidate tells those who read a key that it has changed. By is whose command changed it; nil: it expired.
func (s *Server) invalidate(at nodeKey, by *ServerConn) {
	for _, l := range s.tracked[at] {
		if l != by || l.notifiesOwnChanges {
			l.pendingPushes = append(l.pendingPushes, invalidation(at.key))
		}
	}
	delete(s.tracked, at)
}
