package simredis

import (
	"slices"
	"strings"
)

// watch is a key that a connection watches, from its WATCH to its EXEC or UNWATCH.
type watch struct {
	conn    *Conn
	actor   int
	key     string
	changed bool // since then
}

// see takes down that the key has changed. That a key was written with the value that it had is not seen: no state tells.
func (w *watch) see(before, now *State) {
	was, had := before.Key(w.key)
	is, has := now.Key(w.key)
	w.changed = w.changed || had != has || !slices.Equal(was.Values, is.Values) || was.TTL != is.TTL
}

// refused returns the answer to a transaction of so many commands, MULTI and EXEC among them, that has no effect.
func refused(commands int) []byte {
	return []byte("+OK\r\n" + strings.Repeat("+QUEUED\r\n", commands-2) + "*-1\r\n")
}
