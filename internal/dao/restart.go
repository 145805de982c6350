package dao

import "errors"

// errNotEmbedded means that a Redis is another process's, which we cannot restart.
var errNotEmbedded = errors.New("it is not embedded")

// Restart restarts an embedded Redis, without what it held.
func (r *Redis) Restart() error { return restart(r.embedded) }

// Restart restarts an embedded master, without what it held.
func (n Node) Restart() error { return n.Fault("empty") }

func restart(m *embedded) error {
	if m == nil {
		return errNotEmbedded
	}
	m.Close()
	m.FlushAll()
	return m.Restart()
}
