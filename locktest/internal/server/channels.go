package server

import (
	"bytes"
	"fmt"
	"slices"

	"lockstep/internal/explore/simredis"
)

// subscribe subscribes a line to channels, and gives what it is told of that.
func (l *Line) subscribe(channels []string) []byte {
	var told bytes.Buffer
	for _, channel := range channels {
		if !slices.Contains(l.channels, channel) {
			l.channels = append(l.channels, channel)
		}
		fmt.Fprintf(&told, "%c3\r\n%s%s:%d\r\n", l.pushSign(), bulk("subscribe"), bulk(channel), len(l.channels))
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
		fmt.Fprintf(&told, "%c3\r\n%s%s:%d\r\n", l.pushSign(), bulk("unsubscribe"), bulk(channel), len(l.channels))
	}
	return told.Bytes()
}

// pushSign is what a push begins with: RESP3 has a sign for it.
func (l *Line) pushSign() byte {
	if l.resp3 {
		return '>'
	}
	return '*'
}

// publish sends messages to those who are subscribed at a node.
func (s *Server) publish(node int, messages []simredis.Message) {
	for _, m := range messages {
		for _, l := range sorted(slices.Clone(s.lines)) {
			if l.Node == node && slices.Contains(l.channels, m.Channel) {
				l.pushes = append(l.pushes, fmt.Appendf(nil, "%c3\r\n%s%s%s", l.pushSign(), bulk("message"), bulk(m.Channel), bulk(m.Text)))
			}
		}
	}
}
