package live

import (
	"fmt"
	"slices"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

const (
	maxEvents      = 1 << 14                // bound on the events of a run, kept for GET /live/pair and for replays; see witness.Limits
	maxOtherEvents = 1 << 14                // largest number of events of other runs, kept because one of these runs may be the next
	maxReplyDelay  = 250 * time.Millisecond // longest wait for a late reply that explains a contradiction
)

// scene is what the hub knows about one run.
type scene struct {
	state              RunState  // latest known state of the run
	controls           Controls  // controls that the page may offer
	lanesMadeAt        time.Time // time of the last lanes frame
	hasNews            bool      // something has happened since the last lanes frame
	hasEventsSincePoll bool      // an event was recorded since the last request of the run's state

	beganAt        time.Time        // time of the first event; zero: nothing has happened
	lastRecordedAt time.Time        // end of the latest recorded event
	account        *witness.Account // account of the recorded events
	otherRunEvents []witness.Event  // events of other runs
	lateEvents     []witness.Event  // unrecorded events of this run: one that ended before lastRecordedAt, and all that were added after it
	findings       *findingLog      // findings as they are sent
	names          *displayNames    // displayed names of sales and replicas
	stock          stockLines       // lines of the stock chart
	lastTally      string           // text of the last tally frame; empty: none was sent
	story          storyView        // story as it was last sent
}

// newScene returns the scene of a run that begins. It includes the replicas known from the previous run, so that each keeps its place
// on the page.
func newScene(state RunState, controls Controls, knownReplicas []string) *scene {
	names := newDisplayNames(state.Replicas)
	names.addReplicas(slices.Sorted(slices.Values(knownReplicas))...)
	limits := witness.Limits{
		MaxEvents: maxEvents, MaxPerKind: maxPerKind, MaxReplyDelay: maxReplyDelay, AllowOverlap: !isExclusive(state.Report.Lock),
	}
	return &scene{
		state: state, controls: controls, hasNews: true, account: witness.NewAccount(limits), findings: newFindingLog(), names: names,
	}
}

// runID returns the id of the run.
func (s *scene) runID() string { return s.state.Report.RunID }

// runFrame returns the run frame. If isFresh, all earlier frames are void.
func (s *scene) runFrame(isFresh bool) localized {
	r := s.state.Report
	frame := RunFrame{
		Fresh: isFresh, RunID: r.RunID, Lock: r.Lock, Initial: r.Initial, Settings: s.state.Settings,
		Hosts: s.names.hosts(), Controls: s.controls,
		Replicas: append([]string{}, s.names.replicas...),
	}
	for i, name := range frame.Replicas {
		frame.Replicas[i] = s.names.replica(name)
	}
	row, err := evolution.Find(r.Lock)
	return localize(func(in language.Language) any {
		frame.Kinds = findingKinds(r.Lock, in)
		if err == nil {
			frame.Title = row.Title.In(in)
		}
		return frame
	})
}

// updateSettings takes over the settings and the replicas of a new state, and reports whether they have changed.
func (s *scene) updateSettings(state RunState) bool {
	s.names.addReplicas(state.Replicas...)
	changed := s.state.Settings != state.Settings || !slices.Equal(s.state.Replicas, s.names.replicas)
	s.state.Settings, s.state.Replicas = state.Settings, slices.Clone(s.names.replicas)
	return changed
}

// updateReport takes over the report of a new state. If no sale is active, it also corrects the stock lines.
func (s *scene) updateReport(state RunState) {
	s.state.Report = state.Report
	if len(s.account.ActiveSales) == 0 && state.Report.InFlight == 0 {
		s.hasNews = s.stock.reconcile(state.Report) || s.hasNews
	}
}

// add adds the next event. If it ended before the last recorded event, add stores it, and all later events, for replayRun. add reports
// whether the event begins a sale of another run.
func (s *scene) add(event witness.Event) (beginsOtherRun bool) {
	switch {
	case event.Kind == witness.KindGap && s.beganAt.IsZero():
		return false
	case event.Kind == witness.KindGap:
		event.Sent, event.Replied = s.lastRecordedAt, s.lastRecordedAt
	case s.isOfOtherRun(event):
		if s.otherRunEvents = append(s.otherRunEvents, event); len(s.otherRunEvents) > maxOtherEvents {
			s.otherRunEvents = slices.Clone(s.otherRunEvents[maxOtherEvents/2:])
		}
		return event.Kind == witness.KindAsks
	case event.Kind == witness.KindAsks:
		s.names.nameSale(s.account, event)
	}
	event = s.names.rename(event)
	if len(s.lateEvents) > 0 || event.Replied.Before(s.lastRecordedAt) {
		s.lateEvents = append(s.lateEvents, event)
		return false
	}
	s.record(event)
	return false
}

// record records the next event, which already has displayed names.
func (s *scene) record(event witness.Event) {
	if s.beganAt.IsZero() {
		s.beganAt = event.Sent
	}
	s.lastRecordedAt = event.Replied
	s.hasNews, s.hasEventsSincePoll = true, true
	switch event.Kind {
	case witness.KindDies, witness.KindStops, witness.KindResumes, witness.KindCutOff, witness.KindReconnects, witness.KindEmptied:
		s.findings.addReplicaEvent(s, event)
	default:
	}
	s.account.Record(event)
	s.stock.record(s, event)
}

// isOfOtherRun reports whether an event belongs to another run, or to a sale that is not known.
func (s *scene) isOfOtherRun(event witness.Event) bool {
	switch {
	case event.Kind == witness.KindAsks:
		return event.Run != s.runID()
	case event.Sale == "":
		return s.beganAt.IsZero()
	default:
		name := s.names.name(event.Sale)
		isLate := slices.ContainsFunc(s.lateEvents, func(late witness.Event) bool { return late.Sale == name })
		return s.account.Sale(name) == nil && !isLate
	}
}

// takeSections returns the visits to the critical section that have ended since the last call.
func (s *scene) takeSections() (sections SectionsFrame) {
	for _, section := range s.account.EndedSections {
		sections = append(sections, CriticalSection{
			Sale: section.Sale, Replica: witness.ReplicaOf(section.Sale), From: s.millis(section.From), To: s.millis(section.To),
			Overlaps: section.Overlaps, OverlapCount: section.OverlapCount,
		})
	}
	s.account.EndedSections = nil
	return sections
}

// changedTally returns the tally frame; nil if it has not changed since the last call.
func (s *scene) changedTally() localized {
	report, found := s.state.Report, s.findings.counts(s.account)
	if report.Lost > 0 { // The ledger's count is complete; the witness may have missed some.
		found[string(witness.LostUpdate)] = int(report.Lost)
	}
	sentence := reportText(report)
	if report.Verdict == verdict.Pass && (report.InFlight > 0 || s.isLockBroken()) {
		report.Verdict = verdict.Untested
		if report.InFlight == 0 {
			sentence = luckyPassText(report)
		}
	}
	text := fmt.Sprint(report, found)
	if text == s.lastTally {
		return nil
	}
	s.lastTally = text
	return localize(func(in language.Language) any {
		return TallyFrame{Report: report, Sentence: sentence.In(in), FindingCounts: found}
	})
}

// isLockBroken reports whether the lock let a sale in, or lost its holder, against its promise. The ledger may be right nevertheless. It is
// false for a lock with fencing tokens, because the tokens prevent any harm.
func (s *scene) isLockBroken() bool {
	row, err := evolution.Find(s.state.Report.Lock)
	if err == nil && row.Capabilities.Fenced {
		return false
	}
	found := s.account.FindingCounts
	broken := []witness.FindingKind{
		witness.Overlapped, witness.RemovedLock, witness.OverwroteLock, witness.ExtendedLock, witness.RedisLostLock,
	}
	return slices.ContainsFunc(broken, func(kind witness.FindingKind) bool { return found[kind] > 0 })
}

// isExclusive reports whether a lock is meant to let one sale at a time into the critical section.
func isExclusive(lock string) bool {
	row, err := evolution.Find(lock)
	return err == nil && row.Update.IsExclusive()
}

// millis returns a time in milliseconds since the run's first event.
func (s *scene) millis(t time.Time) int64 {
	if s.beganAt.IsZero() || t.IsZero() {
		return 0
	}
	return t.Sub(s.beganAt).Milliseconds()
}

// optionalMillis is like millis, but returns nil for a zero time.
func (s *scene) optionalMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	at := s.millis(t)
	return &at
}
