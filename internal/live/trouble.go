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
type trouble struct {
	gone   error    // why the last look failed
	paused []string // replicas that are stopped
	cut    []string // replicas that are cut off from Redis
	forgot language.Text
	told   string
}

// observe takes what became of a look. A run that begins when Redis comes back without having forgotten the one before was begun by
// somebody meanwhile; a Redis may also forget without having been gone.
func (t *trouble) observe(err error, before *scene, now history.Report) {
	if err == nil && before != nil && before.run() != now.RunID {
		t.forgot = language.Text{}
		if gone := t.gone != nil && !errors.Is(t.gone, ErrRunDue); gone || now.Forgot {
			t.forgot = lostRun(before.last.Report, now, gone)
		}
	}
	t.gone = err
}

func (t *trouble) record(event witness.Event) {
	with := func(names []string) []string {
		names = append(without(names, event.Replica), event.Replica)
		slices.Sort(names)
		return names
	}
	switch event.Kind {
	case witness.KindStops:
		t.paused = with(t.paused)
	case witness.KindResumes:
		t.paused = without(t.paused, event.Replica)
	case witness.KindCutOff:
		t.cut = with(t.cut)
	case witness.KindReconnects:
		t.cut = without(t.cut, event.Replica)
	case witness.KindDies:
		t.paused, t.cut = without(t.paused, event.Replica), without(t.cut, event.Replica)
	default:
	}
}

func without(names []string, one string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == one })
}

// tell tells of it; nil if that is nothing new.
func (t *trouble) tell(called func(string) string) texts {
	told := strings.Join(t.sentences(language.English, called), "\n")
	if told == t.told {
		return nil
	}
	t.told = told
	return inAll(func(in language.Language) any { return t.sentences(in, called) })
}
