package server

import (
	"bytes"
	"slices"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// subscribe adds channels to the connection's subscriptions, and returns a confirmation for each.
func (sc *Conn) subscribe(channels []string) []byte {
	var replies bytes.Buffer
	for _, channel := range channels {
		if !slices.Contains(sc.channels, channel) {
			sc.channels = append(sc.channels, channel)
		}
		replies.Write(sc.formatPush(proto.String("subscribe"), proto.String(channel), proto.Int(len(sc.channels))))
	}
	return replies.Bytes()
}

// unsubscribe removes subscriptions, all of them if channels is empty, and returns a confirmation for each.
func (sc *Conn) unsubscribe(channels []string) []byte {
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

// formatPush formats a pub/sub message: as a push in RESP3, as an array in RESP2.
func (sc *Conn) formatPush(parts ...string) []byte {
	if sc.usesRESP3 {
		return []byte(proto.Push(parts...))
	}
	return []byte(proto.Array(parts...))
}

// publish queues messages for the connections to a node that are subscribed to their channels.
func (s *Server) publish(node int, messages []simredis.Message) {
	for _, m := range messages {
		for _, conn := range sortConns(slices.Clone(s.conns)) {
			if conn.Node == node && slices.Contains(conn.channels, m.Channel) {
				conn.pendingPushes = append(conn.pendingPushes, conn.formatPush(proto.String("message"), proto.String(m.Channel), proto.String(m.Text)))
			}
		}
	}
}
