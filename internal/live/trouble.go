package live

import (
	"errors"
	"slices"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/service/history"
	"lockstep/internal/witness"
)

// trouble is what a watcher has to know before he believes what he sees: whatever run is shown, if any.
type shopTrouble struct {
	runErr   error    // why the last look failed
	paused   []string // replicas that are stopped
	cutOff   []string // replicas that are cut off from Redis
	lostRun  language.Text
	lastSent string
}

// observe takes what became of a look. A run that begins when Redis comes back without having forgotten the one before was begun by
// somebody meanwhile; a Redis may also forget without having been gone.
func (t *shopTrouble) recordPoll(err error, before *scene, now history.Report) {
	if err == nil && before != nil && before.runID() != now.RunID {
		t.lostRun = language.Text{}
		if gone := t.runErr != nil && !errors.Is(t.runErr, ErrRunDue); gone || now.Forgot {
			t.lostRun = lostRunText(before.state.Report, now, gone)
		}
	}
	t.runErr = err
}

func (t *shopTrouble) record(event witness.Event) {
	with := func(names []string) []string {
		names = append(remove(names, event.Replica), event.Replica)
		slices.Sort(names)
		return names
	}
	switch event.Kind {
	case witness.KindStops:
		t.paused = with(t.paused)
	case witness.KindResumes:
		t.paused = remove(t.paused, event.Replica)
	case witness.KindCutOff:
		t.cutOff = with(t.cutOff)
	case witness.KindReconnects:
		t.cutOff = remove(t.cutOff, event.Replica)
	case witness.KindDies:
		t.paused, t.cutOff = remove(t.paused, event.Replica), remove(t.cutOff, event.Replica)
	default:
	}
}

func remove(names []string, one string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == one })
}

// tell tells of it; nil if that is nothing new.
func (t *shopTrouble) changedText(called func(string) string) localized {
	told := strings.Join(t.texts(language.English, called), "\n")
	if told == t.lastSent {
		return nil
	}
	t.lastSent = told
	return localize(func(in language.Language) any { return t.texts(in, called) })
}
