package server

import (
	"bytes"
	"slices"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// subscribe subscribes a line to channels, and gives what it is told of that.
func (l *Line) subscribe(channels []string) []byte {
	var told bytes.Buffer
	for _, channel := range channels {
		if !slices.Contains(l.channels, channel) {
			l.channels = append(l.channels, channel)
		}
		told.Write(l.asPush(proto.String("subscribe"), proto.String(channel), proto.Int(len(l.channels))))
	}
	return told.Bytes()
}

// unsubscribe is the reverse, of all channels if none is named.
func (l *Line) unsubscribe(channels []string) []byte {
	if len(channels) == 0 {
		channels = slices.Clone(l.channels)
	}
	var told bytes.Buffer
	for _, channel := range channels {
		l.channels = slices.DeleteFunc(l.channels, func(c string) bool { return c == channel })
		told.Write(l.asPush(proto.String("unsubscribe"), proto.String(channel), proto.Int(len(l.channels))))
	}
	return told.Bytes()
}

// asPush writes a push: RESP3 has a form for it.
func (l *Line) asPush(parts ...string) []byte {
	if l.resp3 {
		return []byte(proto.Push(parts...))
	}
	return []byte(proto.Array(parts...))
}

// publish sends messages to those who are subscribed at a node.
func (s *Server) publish(node int, messages []simredis.Message) {
	for _, m := range messages {
		for _, l := range sorted(slices.Clone(s.lines)) {
			if l.Node == node && slices.Contains(l.channels, m.Channel) {
				l.pushes = append(l.pushes, l.asPush(proto.String("message"), proto.String(m.Channel), proto.String(m.Text)))
			}
		}
	}
}
