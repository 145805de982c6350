package witness

import "lockstep/internal/trace"

// What happens to Redis itself, or to one command of a replica on its way back. Who does it, notes it.
const (
	KindRedisEnds   Kind = "redis-ends"   // nobody reaches Redis any more
	KindRedisBegins Kind = "redis-begins" // everybody does again
	KindRedisHangs  Kind = "redis-hangs"  // for some time it executes nothing
	KindUnheard     Kind = "unheard"      // a command of the replica is done, and the reply is held
	KindResent      Kind = "resent"       // a command of the replica is done twice: its client has sent it again
)

// happenings are what the steps say of these, and of a scheduled job.
func happenings(Language) map[Kind]string {
	return map[Kind]string{
		KindRedisEnds:   "every connection to Redis ends, and new ones are refused",
		KindRedisBegins: "Redis can be reached again",
		KindRedisHangs:  "Redis hangs: commands wait, and time goes on",
		KindUnheard:     "Redis has done a command of %s's, and the reply is held",
		KindResent:      "Redis does a command of %s's twice: the reply to the first was lost",
		KindRuns:        "%s runs the job",
		KindRan:         "%s has run it",
	}
}

// rules are the lines across a drawing: what happens to everybody.
func rules(Language) map[Kind]string {
	return map[Kind]string{
		KindRedisEnds: "Redis is gone", KindRedisBegins: "Redis is back", KindRedisHangs: "Redis hangs", KindTick: "tick %d",
	}
}

// happening gives the step of an event that is neither a sale's nor a fault of its replica's, if there is one.
func (d *drawing) happening(event Event) (step trace.Step, is bool) {
	says := happenings(d.in)[event.Kind]
	switch event.Kind {
	case KindRedisEnds, KindRedisBegins, KindRedisHangs:
		return trace.Step{Kind: trace.KindTime, Fault: rules(d.in)[event.Kind], Says: says}, true
	case KindUnheard, KindResent:
		actor := d.firstOf(event.Replica)
		return trace.Step{Kind: trace.KindWaits, Actor: actor, Says: filled(says, event.Replica)}, actor != ""
	default:
		return d.ofJob(event, says)
	}
}
