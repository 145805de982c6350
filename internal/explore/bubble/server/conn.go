package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// receive queues a command that the client has sent. If the command concerns only the connection, receive answers it at once.
func (sc *Conn) receive(words []string) {
	s := sc.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crashed[sc.Process] {
		return
	}
	s.shared.recordScript(words)
	s.sentCommands++
	s.values.record(sc.Process, words)
	sc.queue = append(sc.queue, command{words, s.shared.commandText(words), s.sentCommands})
	sc.answerAtOnce()
	if len(sc.queue) == 0 {
		return
	}
	s.arrivals[sc.Process] = append(s.arrivals[sc.Process], sc.queue[len(sc.queue)-1].text)
	if s.paused[sc.Process] {
		return
	}
	s.SignalActivity()
}

// markClosed records that the client has closed the connection.
func (sc *Conn) markClosed() {
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	sc.closedByClient = true
}

// IsClosedByClient reports whether the client has closed the connection, or its process has crashed.
func (sc *Conn) IsClosedByClient() bool {
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	return sc.closedByClient
}

// CommandName returns the name of the held command; for a script, the name of the first command in it that writes.
func (sc *Conn) CommandName() string { return sc.server.shared.commandName(sc.queue[0].words) }

// CommandText returns the held command with its arguments. It has a script's name instead of the script's text.
func (sc *Conn) CommandText() string { return sc.queue[0].text }

// id returns the connection's index in Server.conns, which identifies the connection.
func (sc *Conn) id() int { return slices.Index(sc.server.conns, sc) }

// answerAtOnce answers commands at the head of the queue as long as they concern only the connection.
func (sc *Conn) answerAtOnce() {
	for len(sc.queue) > 0 {
		reply := sc.queueInTransaction(sc.queue[0])
		if reply == "" {
			reply = sc.connectionReply(sc.queue[0].words)
		}
		if reply == "" {
			return
		}
		sc.queue = sc.queue[1:]
		sc.client.deliver([]byte(reply))
	}
}

// queueInTransaction returns the reply to MULTI, to DISCARD, or to a command between MULTI and EXEC, which it queues; "" for any other
// command, EXEC included.
func (sc *Conn) queueInTransaction(c command) string {
	switch name := strings.ToUpper(c.words[0]); {
	case name == "MULTI" && sc.transaction == nil:
		sc.transaction = []command{c}
		return "+OK\r\n"
	case sc.transaction == nil || name == "EXEC":
		return ""
	case name == "DISCARD":
		sc.transaction = nil
		if _, err := sc.query([][]string{{"UNWATCH"}}); err != nil {
			sc.unsupported = err
		}
		return "+OK\r\n"
	case name == "MULTI" || name == "WATCH":
		return "-ERR " + name + " inside MULTI is not allowed\r\n"
	default:
		sc.transaction = append(sc.transaction, c)
		return "+QUEUED\r\n"
	}
}

// connectionReply returns the reply to a command that concerns only the connection; "" for any other command.
func (sc *Conn) connectionReply(words []string) string {
	if text, isScript := sc.server.shared.script(words); isScript {
		if text == "" {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
		}
		return ""
	}
	argument := ""
	if len(words) > 1 {
		argument = strings.ToUpper(words[1])
	}
	switch strings.ToUpper(words[0]) {
	case "HELLO":
		sc.usesRESP3 = argument == "3"
		return helloReply(sc.usesRESP3)
	case "PING":
		if sc.usesRESP3 || len(sc.channels) == 0 {
			return "+PONG\r\n"
		}
		return proto.Strings("pong", "")
	case "CLIENT":
		return sc.answerClient(argument, words)
	case "AUTH", "READONLY":
		return "+OK\r\n"
	case "SELECT":
		if argument != "0" {
			sc.recordUnsupported("SELECT: there is one database, 0")
		}
		return "+OK\r\n"
	case "EXEC", "DISCARD":
		if sc.transaction == nil {
			return "-ERR " + strings.ToUpper(words[0]) + " without MULTI\r\n"
		}
		return ""
	default:
		return ""
	}
}

// answerClient answers the CLIENT command.
func (sc *Conn) answerClient(subcommand string, words []string) string {
	switch subcommand {
	case "TRACKING":
		sc.setTracking(words[2:])
	case "CACHING":
		sc.tracksNextRead = len(words) > 2 && strings.EqualFold(words[2], "YES")
	case "SETINFO", "SETNAME", "NO-EVICT", "NO-TOUCH":
	case "ID":
		return proto.Int(sc.id() + 1)
	case "MAINT_NOTIFICATIONS": // known to Redis Enterprise only
		return "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n"
	default:
		sc.recordUnsupported("CLIENT " + subcommand)
	}
	return "+OK\r\n"
}

// recordUnsupported records that the simulation cannot answer a command as Redis would; Advance then fails.
func (sc *Conn) recordUnsupported(command string) {
	sc.unsupported = fmt.Errorf("%w: %s", simredis.ErrCommand, command)
}

// helloReply returns the reply of Redis 7.4 to HELLO.
func helloReply(resp3 bool) string {
	fields := []string{proto.String("server"), proto.String("redis"), proto.String("version"), proto.String("7.4.0"), proto.String("proto")}
	if !resp3 {
		return proto.Array(append(fields, proto.Int(2))...)
	}
	return proto.Map(append(fields, proto.Int(3))...)
}

// setTracking applies the arguments of CLIENT TRACKING.
func (sc *Conn) setTracking(words []string) {
	for i, word := range words {
		switch strings.ToUpper(word) {
		case "ON", "OFF":
			sc.isTracking, sc.server.usesTracking = strings.EqualFold(word, "ON"), true
		case "OPTIN":
			sc.isTracking = false
		case "OPTOUT":
		case "NOLOOP":
			sc.notifiesOwnChanges = false
		default:
			sc.recordUnsupported("CLIENT TRACKING " + strings.Join(words[i:], " "))
		}
	}
}
