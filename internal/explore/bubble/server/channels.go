package server

import (
	"bytes"
	"slices"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// subscribe subscribes a line to channels, and gives what it is told of that.
func (sc *ServerConn) subscribe(channels []string) []byte {
	var replies bytes.Buffer
	for _, channel := range channels {
		if !slices.Contains(sc.channels, channel) {
			sc.channels = append(sc.channels, channel)
		}
		replies.Write(sc.formatPush(proto.String("subscribe"), proto.String(channel), proto.Int(len(sc.channels))))
	}
	return replies.Bytes()
}

// unsubscribe is the reverse, of all channels if none is named.
func (sc *ServerConn) unsubscribe(channels []string) []byte {
	if len(channels) == 0 {
		channels = slices.Clone(sc.channels)
	}
	var replies bytes.Buffer
	for _, channel := range channels {
		sc.channels = slices.DeleteFunc(sc.channels, func(c string) bool { return c == channel })
		replies.Write(sc.formatPush(proto.String("unsubscribe"), proto.String(channel), proto.Int(len(sc.channels))))
	}
	return replies.Bytes()
}

// asPush writes a push: RESP3 has a form for it.
func (sc *ServerConn) formatPush(parts ...string) []byte {
	if sc.usesRESP3 {
		return []byte(proto.Push(parts...))
	}
	return []byte(proto.Array(parts...))
}

// publish sends messages to those who are subscribed at a node.
func (s *Server) publish(node int, messages []simredis.Message) {
	for _, m := range messages {
		for _, l := range sortConns(slices.Clone(s.conns)) {
			if l.Node == node && slices.Contains(l.channels, m.Channel) {
				l.pendingPushes = append(l.pendingPushes, l.formatPush(proto.String("message"), proto.String(m.Channel), proto.String(m.Text)))
			}
		}
	}
}
