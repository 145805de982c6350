package explore

import (
	"bytes"
	"slices"
	"strings"
)

// watch is a key that a connection watches, from its WATCH to its EXEC or UNWATCH.
type watch struct {
	conn    *conn
	actor   *actor
	key     string
	changed bool // since then
}

// ask gives the answer to what c sent. What belongs to the connection is answered here; the rest by what Redis holds.
func (w *world) ask(s *server, c *conn, command []byte) (*answer, error) {
	if len(w.watches) == 0 && !bytes.Contains(bytes.ToUpper(command), []byte("WATCH")) {
		return w.memory.ask(s.holds, w.now, command)
	}
	sent, err := commands(command)
	if err != nil {
		return nil, err
	}
	switch first, last := strings.ToUpper(sent[0][0]), strings.ToUpper(sent[len(sent)-1][0]); {
	case first == "WATCH":
		for _, key := range sent[0][1:] {
			w.watches = append(w.watches, &watch{conn: c, actor: w.current.actor, key: key})
		}
		return &answer{reply: []byte("+OK\r\n"), then: s.holds}, nil
	case first == "UNWATCH":
		w.unwatch(c)
		return &answer{reply: []byte("+OK\r\n"), then: s.holds}, nil
	case last == "EXEC" && w.unwatch(c):
		return &answer{reply: refused(len(sent)), then: s.holds}, nil
	}
	return w.memory.ask(s.holds, w.now, command)
}

// unwatch ends c's watches, and reports whether what they watched has changed.
func (w *world) unwatch(c *conn) (changed bool) {
	w.watches = slices.DeleteFunc(w.watches, func(one *watch) bool {
		changed = changed || one.conn == c && one.changed
		return one.conn == c
	})
	return changed
}

// watched sees a change of what Redis holds. That a key was written with the value that it had is not seen: no state tells.
func (w *world) watched(s *server, before *state) {
	for _, one := range w.watches {
		if one.conn.wire.server != s.index {
			continue
		}
		was, had := before.key(one.key)
		is, has := s.holds.key(one.key)
		one.changed = one.changed || had != has || !slices.Equal(was.values, is.values) || was.ttl != is.ttl
	}
}

// refused is the answer to a transaction of so many commands, MULTI and EXEC among them, that has no effect.
func refused(commands int) []byte {
	return []byte("+OK\r\n" + strings.Repeat("+QUEUED\r\n", commands-2) + "*-1\r\n")
}
