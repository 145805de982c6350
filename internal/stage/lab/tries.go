package lab

import (
	"slices"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// ofTheJob is a command of the job's lock.
func ofTheJob(args []string) bool { return slices.Contains(args[1:], jobName) }

// SeeTries watches which replicas ask for the job's lock, while a scenario goes on, and notes it: the record has only who got it.
func (s *Stage) SeeTries(replicas []string, scenario func()) {
	node, traps := 0, map[string]*redisproxy.Trap{}
	if s.onNodes {
		node = 1
	}
	for _, replica := range replicas {
		traps[replica] = s.CatchOn(replica, node, redisproxy.Hold, ofTheJob)
		traps[replica].Release()
	}
	scenario()
	for replica, trap := range traps {
		if isCaught(trap) {
			s.noteOn(replica, node, witness.KindTries)
		}
	}
}

// try is every one of some replicas having asked for the job's lock.
func try(replicas []string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		return !slices.ContainsFunc(replicas, func(replica string) bool {
			return !slices.ContainsFunc(a.Events, func(e witness.Event) bool { return e.Kind == witness.KindTries && e.Replica == replica })
		})
	}
}
