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
	frameInterval      = 100 * time.Millisecond // between two lanes frames
	activePollInterval = 500 * time.Millisecond // between two looks at a run in which something happens
	pollTimeout        = 2 * time.Second        // that a look may take; then Redis is gone
)

// Hub shows a shop to all who watch it.
type Hub struct {
	Shop             Shop
	Controls         Controls
	LingerTime       time.Duration // how long it goes on following when the last watcher has left: one that comes back misses nothing
	SettleTime       time.Duration // how late the events of a replica may come after another's
	WriteTimeout     time.Duration // how long a watcher may take to read what it is sent; then it is dropped
	IdlePollInterval time.Duration // between two looks at a run in which nothing happens; 0 is a second
	Now              func() time.Time

	drawingPair sync.Mutex // held while a pair is drawn

	mu            sync.Mutex
	watchers      int
	stopFollowing context.CancelFunc // nil while nobody watches
	restTimer     *time.Timer        // runs while the hub lingers
	running       sync.WaitGroup
	stopped       <-chan struct{} // closed when it follows the shop no more
	closed        bool
	epoch         string // of the log: ids of another one mean nothing
	log           *frameLog
	scene         *scene
	trouble       shopTrouble
	inbox         []witness.Event // seen, and not in the scene yet
	nextReplay    time.Time       // until then the run is not told again
	refreshNow    chan struct{}   // a look is due
}

// watch begins to watch: it gives what is closed when there is nothing more to see, and the function that ends it. It fails when the hub is
// closed.
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

// start begins to follow the shop. h.mu is held.
func (h *Hub) start() {
	ctx, stop := context.WithCancel(context.Background())
	h.stopFollowing, h.stopped = stop, ctx.Done()
	h.log, h.scene, h.inbox, h.refreshNow = newFrameLog(), nil, nil, make(chan struct{}, 1)
	h.trouble.lastSent = ""
	h.epoch = strconv.FormatInt(h.Now().UnixNano(), 36)
	h.running.Go(func() { h.Shop.Follow(ctx, h.enqueue) })
	hurry := h.refreshNow // of this time: the hub may rest, and begin again
	h.running.Go(func() { h.run(ctx, hurry) })
}

// rest stops following, unless somebody has come back.
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

// Note tells the hub of what no replica can note itself, such as that one is stopped.
func (h *Hub) Note(event witness.Event) { h.enqueue(event) }

// see takes events, in any order.
func (h *Hub) enqueue(events ...witness.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopFollowing != nil {
		h.inbox = append(h.inbox, events...)
	}
}

// run makes frames until ctx ends.
func (h *Hub) run(ctx context.Context, hurry <-chan struct{}) {
	h.running.Go(func() { h.pollRun(ctx, hurry) })
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

// look looks at the run again and again. If Redis is gone, what is there stays, and that is told.
func (h *Hub) pollRun(ctx context.Context, hurry <-chan struct{}) {
	for pause := time.Duration(0); waitForPoll(ctx, hurry, pause); pause = h.pollInterval() {
		soon, cancel := context.WithTimeout(ctx, pollTimeout)
		look, err := h.Shop.RunState(soon)
		cancel()
		h.publishRun(ctx, look, err)
	}
}

func (h *Hub) pollInterval() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scene != nil && h.scene.hasEventsSincePoll {
		h.scene.hasEventsSincePoll = false
		return activePollInterval
	}
	return cmp.Or(h.IdlePollInterval, time.Second)
}

// sleep waits for the next look; it reports whether there is one.
func waitForPoll(ctx context.Context, hurry <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-hurry:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// publish puts a look at the run into the frames, or why there is none.
func (h *Hub) publishRun(ctx context.Context, look RunState, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	h.trouble.recordPoll(err, h.scene, look.Report)
	defer h.publishTrouble()
	switch {
	case err != nil:
		return
	case h.scene == nil || h.scene.runID() != look.Report.RunID:
		var replicas []string
		if h.scene != nil { // what came before the look may be the beginning of this run
			h.inbox = append(h.scene.otherRunEvents, h.inbox...)
			replicas = h.scene.names.replicas
		}
		h.scene = newScene(look, h.Controls, replicas)
		h.log.begin("run", h.scene.runFrame(true))
		h.trouble.lastSent = ""
	case h.scene.updateSettings(look):
		h.log.add("run", h.scene.runFrame(false))
	}
	h.scene.updateReport(look)
	h.publishTally()
}

// publishTally puts what the ledger says into a frame, if it is something new. h.mu is held.
func (h *Hub) publishTally() {
	if tally := h.scene.changedTally(); tally != nil {
		h.log.replace("tally", tally)
	}
}

// publishTrouble puts what is wrong with the shop itself into a frame. h.mu is held.
func (h *Hub) publishTrouble() {
	called := func(name string) string { return name }
	if h.scene != nil {
		called = h.scene.names.replica
	}
	if told := h.trouble.changedText(called); told != nil {
		h.log.replace("trouble", told)
	}
}

// show puts what has happened into frames.
func (h *Hub) publishEvents(ctx context.Context, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scene == nil || ctx.Err() != nil {
		h.inbox = h.inbox[max(0, len(h.inbox)-maxOtherEvents):] // perhaps nobody can say for long which run it is
		return
	}
	s := h.scene
	for _, event := range h.takeSettled(now) {
		h.trouble.record(event)
		if s.add(event) { // a new run has begun
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
	if !s.hasNews && !s.needsLanes(now) {
		return
	}
	h.publishSettled(now)
	if story := s.story.changedFrame(s, now); story != nil {
		h.log.replace("story", story)
	}
	h.log.replace("lanes", s.lanes(now))
}

// showPast puts what has happened by a moment, and stays as it is, into frames. h.mu is held.
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

// retellPause is how many times as long as the last telling the next is put off, so that the buyers have the processor.
const replayCooldown = 5

// retell tells the run again from its beginning, with the events that came late in their places: a replica that was silent, or whose stream
// was slow, must not make the others' locks look broken. h.mu is held.
func (h *Hub) replayRun(now time.Time) {
	began, before := h.Now(), h.scene
	s := newScene(before.state, h.Controls, nil)
	s.names, s.otherRunEvents, s.account = before.names, before.otherRunEvents, before.account.WithoutEvents()
	h.scene = s
	h.log.begin("run", s.runFrame(true))
	h.trouble.lastSent = ""
	var shown time.Time
	for _, event := range witness.InOrder(slices.Concat(before.account.Events, before.lateEvents)) {
		if event.Replied.Sub(shown) > frameInterval {
			shown = event.Replied
			h.publishSettled(shown)
		}
		s.record(event)
	}
	h.publishSettled(now)
	h.publishTally()
	h.nextReplay = now.Add(replayCooldown * h.Now().Sub(began))
}

func (h *Hub) requestPoll() {
	select {
	case h.refreshNow <- struct{}{}:
	default:
	}
}

// settled takes the events from the inbox, in order, that none will come before any more. h.mu is held.
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
