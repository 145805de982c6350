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
	frameInterval      = 100 * time.Millisecond // shortest time between two lanes frames: ten frames a second look continuous
	activePollInterval = 500 * time.Millisecond // time between two requests for the state of an active run
	pollTimeout        = 2 * time.Second        // time limit of a request for the state, after which Redis counts as unreachable
)

// Hub shows a shop to all its watchers. Shop and Now must be set before the first watcher. A Hub is safe for concurrent use.
type Hub struct {
	Shop             Shop             // source of the events and of the run's state
	Controls         Controls         // controls that the page may offer
	LingerTime       time.Duration    // time for which the hub still follows the shop after the last watcher has left
	SettleTime       time.Duration    // time by which events of one replica may arrive later than events of another
	WriteTimeout     time.Duration    // time that a watcher may take to read a frame before it is dropped; 0: 5 s
	IdlePollInterval time.Duration    // time between two requests for the state of a quiet run; 0: 1 s
	Now              func() time.Time // returns the current time

	drawingPair sync.Mutex // held while two sales are drawn

	mu            sync.Mutex         // guards the fields below
	watchers      int                // number of watchers
	stopFollowing context.CancelFunc // nil while the shop is not followed
	lingerTimer   *time.Timer        // ends the following LingerTime after the last watcher has left; nil: not running
	running       sync.WaitGroup     // goroutines that follow the shop
	stopped       <-chan struct{}    // closed when the shop is no longer followed
	closed        bool               // Close was called: no more watchers
	epoch         string             // prefix of the log's frame ids; ids with another prefix are void
	log           *frameLog          // frames of the run; nil: the shop is not followed
	scene         *scene             // state of the present run; nil: no run is known yet
	trouble       shopTrouble        // warnings about the shop itself
	inbox         []witness.Event    // events that are not in the scene yet
	nextReplay    time.Time          // earliest time of the next replay
	refreshNow    chan struct{}      // signals that the run's state should be requested at once
}

// addWatcher adds a watcher. For the first watcher, it starts to follow the shop. It returns a channel that is closed when nothing more
// will be sent, and the function that removes the watcher. It fails if the hub is closed.
func (h *Hub) addWatcher() (done <-chan struct{}, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, errShuttingDown
	}
	h.watchers++
	if h.lingerTimer != nil {
		h.lingerTimer.Stop()
		h.lingerTimer = nil
	}
	if h.stopFollowing == nil {
		h.start()
	}
	return h.stopped, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.watchers--; h.watchers == 0 && h.stopFollowing != nil {
			h.lingerTimer = time.AfterFunc(h.LingerTime, h.stopIfUnwatched)
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
		h.stopFollowing, h.lingerTimer = nil, nil
		h.scene, h.inbox, h.log = nil, nil, nil
	}
}

// Close ends all streams, and stops following the shop. It waits until the goroutines that follow the shop have ended.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	if h.lingerTimer != nil {
		h.lingerTimer.Stop()
	}
	if h.stopFollowing != nil {
		h.stopFollowing()
		h.stopFollowing = nil
	}
	h.mu.Unlock()
	h.running.Wait()
}

// Note adds an event that no replica can record itself, such as the suspension of a replica.
func (h *Hub) Note(event witness.Event) { h.enqueue(event) }

// enqueue adds events to the inbox, in any order.
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

// pollRun requests the run's state repeatedly, until ctx ends. If Redis is unreachable, the frames stay, and watchers get a warning.
func (h *Hub) pollRun(ctx context.Context, refreshNow <-chan struct{}) {
	for pause := time.Duration(0); waitForPoll(ctx, refreshNow, pause); pause = h.pollInterval() {
		pollCtx, cancel := context.WithTimeout(ctx, pollTimeout)
		state, err := h.Shop.RunState(pollCtx)
		cancel()
		h.publishRun(ctx, state, err)
	}
}

// pollInterval returns the time until the next request for the run's state.
func (h *Hub) pollInterval() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scene != nil && h.scene.hasEventsSincePoll {
		h.scene.hasEventsSincePoll = false
		return activePollInterval
	}
	return cmp.Or(h.IdlePollInterval, time.Second)
}

// waitForPoll waits for pause or until refreshNow has a signal, whichever comes first. It returns false as soon as ctx has ended.
func waitForPoll(ctx context.Context, refreshNow <-chan struct{}, pause time.Duration) bool {
	timer := time.NewTimer(pause)
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

// publishRun publishes the run's state, or a warning if err is the reason why there is none.
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
		if h.scene != nil { // Events that arrived before this state may be the beginning of its run.
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

// publishTally publishes the tally, if it has changed. The caller holds h.mu.
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

// publishEvents adds the settled events from the inbox to the scene, and publishes the frames that change by that.
func (h *Hub) publishEvents(ctx context.Context, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scene == nil || ctx.Err() != nil {
		h.inbox = h.inbox[max(0, len(h.inbox)-maxOtherEvents):] // The run may stay unknown for a long time.
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

// publishSettled publishes what happened before now and will not change any more. The caller holds h.mu.
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

// replayCooldown is the pause between two replays, as a multiple of the last replay's duration, so that buyers get processor time.
const replayCooldown = 5

// replayRun replays the run from its first known event, with the late events in their places. Otherwise a replica that was silent, or whose
// stream was slow, would make the locks of the others look broken. The caller holds h.mu.
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

// requestPoll makes pollRun request the run's state at once.
func (h *Hub) requestPoll() {
	select {
	case h.refreshNow <- struct{}{}:
	default:
	}
}

// takeSettled removes the events from the inbox that are older than SettleTime, so that no later arrival can precede them. It returns these
// events in order. The caller holds h.mu.
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
