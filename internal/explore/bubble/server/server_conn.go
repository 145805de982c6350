package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// receive takes a command, and answers what can be answered at once.
func (sc *ServerConn) receive(sent []string) {
	s := sc.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crashed[sc.Process] {
		return
	}
	s.shared.recordScript(sent)
	s.sentCommands++
	s.values.record(sc.Process, sent)
	sc.queue = append(sc.queue, command{sent, s.shared.commandText(sent), s.sentCommands})
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

// desert marks a connection that its client has closed.
func (sc *ServerConn) markClosed() {
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	sc.closedByClient = true
}

// Deserted reports whether the client has closed the connection.
func (sc *ServerConn) IsClosedByClient() bool {
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	return sc.closedByClient
}

// Name calls the command that is held.
func (sc *ServerConn) CommandName() string { return sc.server.shared.commandName(sc.queue[0].words) }

// Text is the command that is held.
func (sc *ServerConn) CommandText() string { return sc.queue[0].text }

// id tells lines apart that watch.
func (sc *ServerConn) id() int { return slices.Index(sc.server.conns, sc) }

// answerAtOnce answers what is at the head of the queue, as long as it is about the connection alone.
func (sc *ServerConn) answerAtOnce() {
	for len(sc.queue) > 0 {
		answer := sc.queueInTransaction(sc.queue[0])
		if answer == "" {
			answer = sc.connectionReply(sc.queue[0].words)
		}
		if answer == "" {
			return
		}
		sc.queue = sc.queue[1:]
		sc.client.deliver([]byte(answer))
	}
}

// collect answers what is part of a transaction, before its EXEC: then all takes effect at once.
func (sc *ServerConn) queueInTransaction(c command) string {
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

// connectionReply answers a command that is about the connection alone, and is "" for any other.
func (sc *ServerConn) connectionReply(sent []string) string {
	if text, isScript := sc.server.shared.script(sent); isScript {
		if text == "" {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
		}
		return ""
	}
	argument := ""
	if len(sent) > 1 {
		argument = strings.ToUpper(sent[1])
	}
	switch strings.ToUpper(sent[0]) {
	case "HELLO":
		sc.usesRESP3 = argument == "3"
		return helloReply(sc.usesRESP3)
	case "PING":
		if sc.usesRESP3 || len(sc.channels) == 0 {
			return "+PONG\r\n"
		}
		return proto.Strings("pong", "")
	case "CLIENT":
		return sc.answerClient(argument, sent)
	case "AUTH", "READONLY":
		return "+OK\r\n"
	case "SELECT":
		if argument != "0" {
			sc.recordUnsupported("SELECT: there is one database, 0")
		}
		return "+OK\r\n"
	case "EXEC", "DISCARD":
		if sc.transaction == nil {
			return "-ERR " + strings.ToUpper(sent[0]) + " without MULTI\r\n"
		}
		return ""
	default:
		return ""
	}
}

// client answers a CLIENT.
func (sc *ServerConn) answerClient(subcommand string, sent []string) string {
	switch subcommand {
	case "TRACKING":
		sc.setTracking(sent[2:])
	case "CACHING":
		sc.tracksNextRead = len(sent) > 2 && strings.EqualFold(sent[2], "YES")
	case "SETINFO", "SETNAME", "NO-EVICT", "NO-TOUCH":
	case "ID":
		return proto.Int(sc.id() + 1)
	case "MAINT_NOTIFICATIONS": // of Redis Enterprise
		return "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n"
	default:
		sc.recordUnsupported("CLIENT " + subcommand)
	}
	return "+OK\r\n"
}

// refuse takes down that a command cannot be answered as a Redis does.
func (sc *ServerConn) recordUnsupported(command string) {
	sc.unsupported = fmt.Errorf("%w: %s", simredis.ErrCommand, command)
}

// hello answers as Redis 7.4 does, in RESP3 if the client wants it.
func helloReply(resp3 bool) string {
	about := []string{proto.String("server"), proto.String("redis"), proto.String("version"), proto.String("7.4.0"), proto.String("proto")}
	if !resp3 {
		return proto.Array(append(about, proto.Int(2))...)
	}
	return proto.Map(append(about, proto.Int(3))...)
}

// track reads what follows CLIENT TRACKING.
func (sc *ServerConn) setTracking(words []string) {
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
