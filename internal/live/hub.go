package live

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"lockstep/internal/witness"
)

const (
	frameInterval      = 100 * time.Millisecond // shortest time between two lanes frames: ten a second look continuous
	activePollInterval = 500 * time.Millisecond // time between two requests for the state of a run in which something happens
	pollTimeout        = 2 * time.Second        // longest time that a request for the state may take; then Redis counts as gone
)

// Hub shows a shop to all its watchers. Shop and Now must be set before the first watcher; it is safe for concurrent use.
type Hub struct {
	Shop             Shop
	Controls         Controls
	LingerTime       time.Duration // time for which the hub still follows the shop after the last watcher has left
	SettleTime       time.Duration // time by which a replica's events may come later than another's
	WriteTimeout     time.Duration // time that a watcher may take to read a frame before it is dropped; 0: 5 s
	IdlePollInterval time.Duration // time between two requests for the state of a quiet run; 0: 1 s
	Now              func() time.Time

	drawingPair sync.Mutex // held while two sales are drawn

	mu            sync.Mutex
	watchers      int
	stopFollowing context.CancelFunc // nil while the shop is not followed
	restTimer     *time.Timer        // running between the last watcher's leaving and the end of following
	running       sync.WaitGroup
	stopped       <-chan struct{} // closed when the shop is no longer followed
	closed        bool
	epoch         string // prefix of the log's frame ids; ids with another prefix are void
	log           *frameLog
	scene         *scene
	trouble       shopTrouble
	inbox         []witness.Event // events that are not in the scene yet
	nextReplay    time.Time       // earliest time of the next replay
	refreshNow    chan struct{}   // signals that the run's state should be requested at once
}

// addWatcher adds a watcher, and starts to follow the shop for the first. It returns a channel that is closed when nothing more will be
// sent, and the function that removes the watcher. It fails if the hub is closed.
func (h *Hub) addWatcher() (done <-chan struct{}, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, errShuttingDown
	}
	h.watchers++
	if h.restTimer != nil {
		h.restTimer.Stop()
		h.restTimer = nil
	}
	if h.stopFollowing == nil {
		h.start()
	}
	return h.stopped, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.watchers--; h.watchers == 0 && h.stopFollowing != nil {
			h.restTimer = time.AfterFunc(h.LingerTime, h.stopIfUnwatched)
		}
	}, nil
}

// start begins to follow the shop. The caller holds h.mu.
func (h *Hub) start() {
	ctx, stop := context.WithCancel(context.Background())
	h.stopFollowing, h.stopped = stop, ctx.Done()
	h.log, h.scene, h.inbox, h.refreshNow = newFrameLog(), nil, nil, make(chan struct{}, 1)
	h.trouble.lastSent = ""
	h.epoch = strconv.FormatInt(h.Now().UnixNano(), 36)
	h.running.Go(func() { h.Shop.Follow(ctx, h.enqueue) })
	refreshNow := h.refreshNow // captured, because a restarted hub has a new channel
	h.running.Go(func() { h.run(ctx, refreshNow) })
}

// stopIfUnwatched stops following, unless a watcher has returned.
func (h *Hub) stopIfUnwatched() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == 0 && h.stopFollowing != nil {
		h.stopFollowing()
		h.stopFollowing, h.restTimer = nil, nil
		h.scene, h.inbox, h.log = nil, nil, nil
	}
}

// Close ends all streams, and waits until nothing is followed any more.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	if h.restTimer != nil {
		h.restTimer.Stop()
	}
	if h.stopFollowing != nil {
		h.stopFollowing()
		h.stopFollowing = nil
	}
	h.mu.Unlock()
	h.running.Wait()
}

// Note adds an event that no replica can record itself, such as that one is stopped.
func (h *Hub) Note(event witness.Event) { h.enqueue(event) }

// enqueue adds events, in any order.
func (h *Hub) enqueue(events ...witness.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopFollowing != nil {
		h.inbox = append(h.inbox, events...)
	}
}

// run publishes frames until ctx ends.
func (h *Hub) run(ctx context.Context, refreshNow <-chan struct{}) {
	h.running.Go(func() { h.pollRun(ctx, refreshNow) })
	tick := time.NewTicker(frameInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.publishEvents(ctx, h.Now())
		}
	}
}

// pollRun requests the run's state again and again. If Redis is gone, the frames stay, with a warning.
func (h *Hub) pollRun(ctx context.Context, refreshNow <-chan struct{}) {
	for pause := time.Duration(0); waitForPoll(ctx, refreshNow, pause); pause = h.pollInterval() {
		pollCtx, cancel := context.WithTimeout(ctx, pollTimeout)
		state, err := h.Shop.RunState(pollCtx)
		cancel()
		h.publishRun(ctx, state, err)
	}
}

// pollInterval returns the time until the next request of the run's state.
func (h *Hub) pollInterval() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scene != nil && h.scene.hasEventsSincePoll {
		h.scene.hasEventsSincePoll = false
		return activePollInterval
	}
	return cmp.Or(h.IdlePollInterval, time.Second)
}

// waitForPoll waits for the next request of the run's state. It reports false when ctx has ended.
func waitForPoll(ctx context.Context, refreshNow <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-refreshNow:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// publishRun publishes the run's state, or why there is none.
func (h *Hub) publishRun(ctx context.Context, state RunState, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	h.trouble.recordPoll(err, h.scene, state.Report)
	defer h.publishTrouble()
	switch {
	case err != nil:
		return
	case h.scene == nil || h.scene.runID() != state.Report.RunID:
		var replicas []string
		if h.scene != nil { // Events that came before this state may be the beginning of its run.
			h.inbox = append(h.scene.otherRunEvents, h.inbox...)
			replicas = h.scene.names.replicas
		}
		h.scene = newScene(state, h.Controls, replicas)
		h.log.begin("run", h.scene.runFrame(true))
		h.trouble.lastSent = ""
	case h.scene.updateSettings(state):
		h.log.add("run", h.scene.runFrame(false))
	}
	h.scene.updateReport(state)
	h.publishTally()
}

// publishTally publishes what the ledger says, if it has changed. The caller holds h.mu.
func (h *Hub) publishTally() {
	if tally := h.scene.changedTally(); tally != nil {
		h.log.replace("tally", tally)
	}
}

// publishTrouble publishes the warnings about the shop itself, if they have changed. The caller holds h.mu.
func (h *Hub) publishTrouble() {
	displayName := func(name string) string { return name }
	if h.scene != nil {
		displayName = h.scene.names.replica
	}
	if frame := h.trouble.changedText(displayName); frame != nil {
		h.log.replace("trouble", frame)
	}
}

// publishEvents publishes what has happened.
func (h *Hub) publishEvents(ctx context.Context, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scene == nil || ctx.Err() != nil {
		h.inbox = h.inbox[max(0, len(h.inbox)-maxOtherEvents):] // The run may be unknown for long.
		return
	}
	s := h.scene
	for _, event := range h.takeSettled(now) {
		h.trouble.record(event)
		if s.add(event) { // A new run has begun.
			h.requestPoll()
		}
	}
	if len(s.lateEvents) > 0 {
		if now.Before(h.nextReplay) {
			return
		}
		h.replayRun(now)
		s = h.scene
	}
	h.publishTrouble()
	if !s.hasNews && !s.hasStaleLanes(now) {
		return
	}
	h.publishSettled(now)
	if story := s.story.changedFrame(s, now); story != nil {
		h.log.replace("story", story)
	}
	h.log.replace("lanes", s.lanes(now))
}

// publishSettled publishes what has happened up to a time and will not change. The caller holds h.mu.
func (h *Hub) publishSettled(now time.Time) {
	s := h.scene
	s.account.Settle(now)
	s.findings.update(s, now)
	if sections := s.takeSections(); len(sections) > 0 {
		h.log.add("sections", unlocalized(sections))
	}
	for _, finding := range s.findings.takeFrames() {
		h.log.add("finding", finding)
	}
	if points := s.takePoints(); len(points) > 0 {
		h.log.add("stock", unlocalized(points))
	}
}

// replayCooldown is the pause between two replays, as a multiple of the time that the last took, so that the buyers have the processor.
const replayCooldown = 5

// replayRun replays the run from its beginning, with the late events in their places: a replica that was silent, or whose stream was slow,
// must not make the others' locks look broken. The caller holds h.mu.
func (h *Hub) replayRun(now time.Time) {
	start, before := h.Now(), h.scene
	s := newScene(before.state, h.Controls, nil)
	s.names, s.otherRunEvents, s.account = before.names, before.otherRunEvents, before.account.WithoutEvents()
	h.scene = s
	h.log.begin("run", s.runFrame(true))
	h.trouble.lastSent = ""
	var publishedUntil time.Time
	for _, event := range witness.InOrder(slices.Concat(before.account.Events, before.lateEvents)) {
		if event.Replied.Sub(publishedUntil) > frameInterval {
			publishedUntil = event.Replied
			h.publishSettled(publishedUntil)
		}
		s.record(event)
	}
	h.publishSettled(now)
	h.publishTally()
	h.nextReplay = now.Add(replayCooldown * h.Now().Sub(start))
}

// requestPoll has the run's state requested at once.
func (h *Hub) requestPoll() {
	select {
	case h.refreshNow <- struct{}{}:
	default:
	}
}

// takeSettled removes from the inbox, and returns in order, the events that no event can precede any more. The caller holds h.mu.
func (h *Hub) takeSettled(now time.Time) []witness.Event {
	slices.SortStableFunc(h.inbox, func(a, b witness.Event) int {
		return cmp.Or(a.Replied.Compare(b.Replied), cmp.Compare(a.ID, b.ID))
	})
	n := len(h.inbox)
	for n > 0 && h.inbox[n-1].Replied.After(now.Add(-h.SettleTime)) {
		n--
	}
	events := h.inbox[:n:n]
	h.inbox = slices.Clone(h.inbox[n:])
	return events
}
