package execution

import "slices"

// addSpuriousWakes adds that processes are told that they may have missed a message.
func (m *menu) addSpuriousWakes() {
	for i, p := range m.processes {
		if !p.dead && !p.paused && m.listens(p) {
			m.add(WokenInVain, i)
		}
	}
}

// listens reports whether a process listens to anything.
func (s *subscriptions) listens(p *Process) bool {
	return slices.ContainsFunc(s.listeners, func(l *listener) bool { return l.actor.Process == p && len(l.notify) > 0 })
}

// ringAll tells a process on each channel that a message may have been missed, as the real notifier does when it has connected anew.
func (x *Execution) ringAll(p *Process) {
	for _, l := range x.listeners {
		if l.actor.Process == p && len(l.notify) > 0 {
			x.note(p, "ring "+l.channel+" ")
			x.tell(l, "")
		}
	}
}
