package live

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// tale is the story of what went wrong first, as it was told last.
type storyView struct {
	lanes          map[string]Lane // of its sales, which the account forgets
	rail           []RailHolding
	lastSent       string
	settledMoments int // so many turns concern sales that have all ended: nothing in their lanes changes any more
}

// tell tells it; nil if that is nothing new.
func (t *storyView) changedFrame(s *scene, now time.Time) localized {
	turns := s.account.Story()
	if len(turns) == 0 && t.lastSent == "" {
		return nil
	}
	cast := t.update(s, turns, now)
	frame := StoryFrame{
		Moments: []StoryMoment{},
		Picture: LanesFrame{Now: s.millis(now), Sales: []Lane{}, Rail: append([]RailHolding{}, t.rail...), Queue: []Waiter{}},
	}
	for _, name := range cast {
		frame.Picture.Sales = append(frame.Picture.Sales, t.lanes[name])
	}
	is := frame
	is.Picture.Now = 0
	text, err := json.Marshal([]any{is, turns})
	if err != nil || string(text) == t.lastSent {
		return nil
	}
	t.lastSent = string(text)
	return localize(func(in language.Language) any {
		frame.Moments = []StoryMoment{}
		for _, turn := range turns {
			told := s.newFinding(turn.Finding, now)
			frame.Moments = append(frame.Moments, StoryMoment{
				At: told.atMillis, Kind: told.kind, Sentence: told.sentence(in), Sales: told.sales, Causes: turn.Causes, Bad: told.isBad,
			})
		}
		return frame
	})
}

// update notes what the sales of a story do, and whose the lock is meanwhile, as long as one of them goes on. It gives the sales in the
// order in which they asked.
func (t *storyView) update(s *scene, turns []witness.StoryMoment, now time.Time) (cast []string) {
	for _, turn := range turns {
		for _, name := range s.newFinding(turn.Finding, now).sales {
			if !slices.Contains(cast, name) {
				cast = append(cast, name)
			}
		}
	}
	slices.SortFunc(cast, func(a, b string) int {
		_, a, _ = strings.Cut(a, "#")
		_, b, _ = strings.Cut(b, "#")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if t.settledMoments == len(turns) {
		return cast
	}
	if t.lanes == nil {
		t.lanes = map[string]Lane{}
	}
	whole, lasts := witness.Span{}, false
	for _, name := range cast {
		one := s.account.Sale(name)
		if one == nil || one.AskedAt.IsZero() {
			continue
		}
		t.lanes[name] = Lane{Name: name, Replica: one.Replica, Spans: s.laneSpans(one, now), End: laneEnd(one), Marks: []LaneMark{}}
		whole.From = witness.Earlier(whole.From, one.AskedAt)
		if one.EndedAt.After(whole.To) {
			whole.To = one.EndedAt
		}
		lasts = lasts || one.EndedAt.IsZero()
	}
	if lasts {
		whole.To = now
	} else {
		t.settledMoments = len(turns)
	}
	t.rail = s.railHoldings(slices.DeleteFunc(slices.Clone(s.account.Holdings), func(h *witness.Holding) bool {
		return h.Intersect(whole).Length() <= 0
	}), now)
	t.rail = t.rail[:min(len(t.rail), maxRailHoldings)]
	return cast
}
