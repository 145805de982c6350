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

// storyView is the story of the run as it was last sent.
type storyView struct {
	lanes          map[string]Lane // lanes of the story's sales, kept because the account may forget them
	rail           []RailHolding   // holdings during the story
	lastSent       string          // JSON of the last frame, for comparison; empty: nothing was sent
	settledMoments int             // number of moments when all sales of the story had ended: their lanes no longer change; 0: not so yet
}

// changedFrame returns the story frame; nil if it has not changed since the last call.
func (v *storyView) changedFrame(s *scene, now time.Time) localized {
	moments := s.account.Story()
	if len(moments) == 0 && v.lastSent == "" {
		return nil
	}
	sales := v.update(s, moments, now)
	frame := StoryFrame{
		Moments: []StoryMoment{},
		Picture: LanesFrame{Now: s.millis(now), Sales: []Lane{}, Rail: append([]RailHolding{}, v.rail...), Queue: []Waiter{}},
	}
	for _, name := range sales {
		frame.Picture.Sales = append(frame.Picture.Sales, v.lanes[name])
	}
	timeless := frame
	timeless.Picture.Now = 0 // A different time is not a change.
	text, err := json.Marshal([]any{timeless, moments})
	if err != nil || string(text) == v.lastSent {
		return nil
	}
	v.lastSent = string(text)
	return localize(func(in language.Language) any {
		frame.Moments = []StoryMoment{}
		for _, moment := range moments {
			finding := s.newFinding(moment.Finding, now)
			frame.Moments = append(frame.Moments, StoryMoment{
				At: finding.atMillis, Kind: finding.kind, Sentence: finding.sentence(in), Sales: finding.sales,
				Causes: moment.Causes, Bad: finding.isBad,
			})
		}
		return frame
	})
}

// update updates the lanes of a story's sales, and the holdings during the story, unless settledMoments shows that they cannot change. It
// returns the sales in the order in which they asked for the lock.
func (v *storyView) update(s *scene, moments []witness.StoryMoment, now time.Time) (sales []string) {
	for _, moment := range moments {
		for _, name := range s.newFinding(moment.Finding, now).sales {
			if !slices.Contains(sales, name) {
				sales = append(sales, name)
			}
		}
	}
	slices.SortFunc(sales, func(a, b string) int {
		_, a, _ = strings.Cut(a, "#")
		_, b, _ = strings.Cut(b, "#")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if v.settledMoments == len(moments) {
		return sales
	}
	if v.lanes == nil {
		v.lanes = map[string]Lane{}
	}
	period, isGoingOn := witness.Span{}, false
	for _, name := range sales {
		sale := s.account.Sale(name)
		if sale == nil || sale.AskedAt.IsZero() {
			continue
		}
		v.lanes[name] = Lane{Name: name, Replica: sale.Replica, Spans: s.laneSpans(sale, now), End: laneEnd(sale), Marks: []LaneMark{}}
		period.From = witness.EarlierOf(period.From, sale.AskedAt)
		if sale.EndedAt.After(period.To) {
			period.To = sale.EndedAt
		}
		isGoingOn = isGoingOn || sale.EndedAt.IsZero()
	}
	if isGoingOn {
		period.To = now
	} else {
		v.settledMoments = len(moments)
	}
	v.rail = s.railHoldings(slices.DeleteFunc(slices.Clone(s.account.Holdings), func(h *witness.Holding) bool {
		return h.Intersect(period).Length() <= 0
	}), now)
	v.rail = v.rail[:min(len(v.rail), maxRailHoldings)]
	return sales
}
