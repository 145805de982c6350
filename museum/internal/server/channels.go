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
		fmt.Fprintf(&told, "*3\r\n%s%s:%d\r\n", bulk("subscribe"), bulk(channel), len(l.channels))
	}
	return told.Bytes()
}

// publish sends messages to those who are subscribed at a node.
func (s *Server) publish(node int, messages []simredis.Message) {
	for _, m := range messages {
		for _, l := range s.inOrder() {
			if l.Node == node && slices.Contains(l.channels, m.Channel) {
				l.pushes = append(l.pushes, fmt.Appendf(nil, "*3\r\n%s%s%s", bulk("message"), bulk(m.Channel), bulk(m.Text)))
			}
		}
	}
}
