package live

import (
	"errors"
	"slices"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/service/history"
	"lockstep/internal/witness"
)

// shopTrouble has the facts for the warnings about the shop itself: Redis is unreachable, a run was lost, replicas are stopped or cut off.
type shopTrouble struct {
	runErr   error         // error of the last request for the run's state; nil: none
	paused   []string      // names of the stopped replicas, sorted
	cutOff   []string      // names of the replicas that are cut off from Redis, sorted
	lostRun  language.Text // sentence about a run whose data Redis lost; empty: none
	lastSent string        // English text of the last frame
}

// recordPoll records the result of a request for the run's state. If the run has changed, and Redis was unreachable before or has lost its
// data, recordPoll adds a warning about the lost run.
func (t *shopTrouble) recordPoll(err error, before *scene, now history.Report) {
	if err == nil && before != nil && before.runID() != now.RunID {
		t.lostRun = language.Text{}
		if wasGone := t.runErr != nil && !errors.Is(t.runErr, ErrRunDue); wasGone || now.Forgot {
			t.lostRun = lostRunText(before.state.Report, now, wasGone)
		}
	}
	t.runErr = err
}

// record updates the lists of stopped and cut-off replicas by an event.
func (t *shopTrouble) record(event witness.Event) {
	withReplica := func(names []string) []string {
		names = append(remove(names, event.Replica), event.Replica)
		slices.Sort(names)
		return names
	}
	switch event.Kind {
	case witness.KindStops:
		t.paused = withReplica(t.paused)
	case witness.KindResumes:
		t.paused = remove(t.paused, event.Replica)
	case witness.KindCutOff:
		t.cutOff = withReplica(t.cutOff)
	case witness.KindReconnects:
		t.cutOff = remove(t.cutOff, event.Replica)
	case witness.KindDies:
		t.paused, t.cutOff = remove(t.paused, event.Replica), remove(t.cutOff, event.Replica)
	default:
	}
}

// remove deletes one name from names, in place, and returns the shortened list.
func remove(names []string, removed string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == removed })
}

// changedText returns the warnings; nil if they have not changed since the last call.
func (t *shopTrouble) changedText(displayName func(string) string) localized {
	text := strings.Join(t.texts(language.English, displayName), "\n")
	if text == t.lastSent {
		return nil
	}
	t.lastSent = text
	return localize(func(in language.Language) any { return t.texts(in, displayName) })
}
