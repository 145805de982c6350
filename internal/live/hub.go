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
	frameTime = 100 * time.Millisecond // between two lanes frames
	lookTime  = 500 * time.Millisecond // between two looks at a run in which something happens
	mostLook  = 2 * time.Second        // that a look may take; then Redis is gone
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

	drawing sync.Mutex // held while a pair is drawn

	mu       sync.Mutex
	watchers int
	stop     context.CancelFunc // nil while nobody watches
	leaving  *time.Timer        // runs while the hub lingers
	running  sync.WaitGroup
	done     <-chan struct{} // closed when it follows the shop no more
	closed   bool
	epoch    string // of the log: ids of another one mean nothing
	log      *log
	scene    *scene
	trouble  trouble
	inbox    []witness.Event // seen, and not in the scene yet
	retellAt time.Time       // until then the run is not told again
	hurry    chan struct{}   // a look is due
}

// watch begins to watch: it gives what is closed when there is nothing more to see, and the function that ends it. It fails when the hub is
// closed.
func (h *Hub) watch() (done <-chan struct{}, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, errEnding
	}
	h.watchers++
	if h.leaving != nil {
		h.leaving.Stop()
		h.leaving = nil
	}
	if h.stop == nil {
		h.start()
	}
	return h.done, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.watchers--; h.watchers == 0 && h.stop != nil {
			h.leaving = time.AfterFunc(h.LingerTime, h.rest)
		}
	}, nil
}

// start begins to follow the shop. h.mu is held.
func (h *Hub) start() {
	ctx, stop := context.WithCancel(context.Background())
	h.stop, h.done = stop, ctx.Done()
	h.log, h.scene, h.inbox, h.hurry = newLog(), nil, nil, make(chan struct{}, 1)
	h.trouble.told = ""
	h.epoch = strconv.FormatInt(h.Now().UnixNano(), 36)
	h.running.Go(func() { h.Shop.Follow(ctx, h.see) })
	hurry := h.hurry // of this time: the hub may rest, and begin again
	h.running.Go(func() { h.run(ctx, hurry) })
}

// rest stops following, unless somebody has come back.
func (h *Hub) rest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == 0 && h.stop != nil {
		h.stop()
		h.stop, h.leaving = nil, nil
		h.scene, h.inbox, h.log = nil, nil, nil
	}
}

// Close ends all streams, and waits until nothing is followed any more.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	if h.leaving != nil {
		h.leaving.Stop()
	}
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
	h.mu.Unlock()
	h.running.Wait()
}

// Note tells the hub of what no replica can note itself, such as that one is stopped.
func (h *Hub) Note(event witness.Event) { h.see(event) }

// see takes events, in any order.
func (h *Hub) see(events ...witness.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.inbox = append(h.inbox, events...)
	}
}

// run makes frames until ctx ends.
func (h *Hub) run(ctx context.Context, hurry <-chan struct{}) {
	h.running.Go(func() { h.look(ctx, hurry) })
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.show(ctx, h.Now())
		}
	}
}

// look looks at the run again and again. If Redis is gone, what is there stays, and that is told.
func (h *Hub) look(ctx context.Context, hurry <-chan struct{}) {
	for pause := time.Duration(0); sleep(ctx, hurry, pause); pause = h.pause() {
		soon, cancel := context.WithTimeout(ctx, mostLook)
		look, err := h.Shop.RunState(soon)
		cancel()
		h.publish(ctx, look, err)
	}
}

func (h *Hub) pause() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scene != nil && h.scene.stirs {
		h.scene.stirs = false
		return lookTime
	}
	return cmp.Or(h.IdlePollInterval, time.Second)
}

// sleep waits for the next look; it reports whether there is one.
func sleep(ctx context.Context, hurry <-chan struct{}, d time.Duration) bool {
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
func (h *Hub) publish(ctx context.Context, look RunState, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	h.trouble.observe(err, h.scene, look.Report)
	defer h.publishTrouble()
	switch {
	case err != nil:
		return
	case h.scene == nil || h.scene.run() != look.Report.RunID:
		var replicas []string
		if h.scene != nil { // what came before the look may be the beginning of this run
			h.inbox = append(h.scene.others, h.inbox...)
			replicas = h.scene.names.replicas
		}
		h.scene = newScene(look, h.Controls, replicas)
		h.log.begin("run", h.scene.runFrame(true))
		h.trouble.told = ""
	case h.scene.changes(look):
		h.log.add("run", h.scene.runFrame(false))
	}
	h.scene.look(look)
	h.publishTally()
}

// publishTally puts what the ledger says into a frame, if it is something new. h.mu is held.
func (h *Hub) publishTally() {
	if tally := h.scene.tally(); tally != nil {
		h.log.replace("tally", tally)
	}
}

// publishTrouble puts what is wrong with the shop itself into a frame. h.mu is held.
func (h *Hub) publishTrouble() {
	called := func(name string) string { return name }
	if h.scene != nil {
		called = h.scene.names.replica
	}
	if told := h.trouble.tell(called); told != nil {
		h.log.replace("trouble", told)
	}
}

// show puts what has happened into frames.
func (h *Hub) show(ctx context.Context, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scene == nil || ctx.Err() != nil {
		h.inbox = h.inbox[max(0, len(h.inbox)-mostOthers):] // perhaps nobody can say for long which run it is
		return
	}
	s := h.scene
	for _, event := range h.settled(now) {
		h.trouble.record(event)
		if s.see(event) { // a new run has begun
			h.lookSoon()
		}
	}
	if len(s.late) > 0 {
		if now.Before(h.retellAt) {
			return
		}
		h.retell(now)
		s = h.scene
	}
	h.publishTrouble()
	if !s.news && !s.isMoving(now) {
		return
	}
	h.showPast(now)
	if story := s.tale.tell(s, now); story != nil {
		h.log.replace("story", story)
	}
	h.log.replace("lanes", s.lanes(now))
}

// showPast puts what has happened by a moment, and stays as it is, into frames. h.mu is held.
func (h *Hub) showPast(now time.Time) {
	s := h.scene
	s.account.Settle(now)
	s.found.take(s, now)
	if sections := s.sections(); len(sections) > 0 {
		h.log.add("sections", same(sections))
	}
	for _, finding := range s.found.newFindings() {
		h.log.add("finding", finding)
	}
	if points := s.newPoints(); len(points) > 0 {
		h.log.add("stock", same(points))
	}
}

// retellPause is how many times as long as the last telling the next is put off, so that the buyers have the processor.
const retellPause = 5

// retell tells the run again from its beginning, with the events that came late in their places: a replica that was silent, or whose stream
// was slow, must not make the others' locks look broken. h.mu is held.
func (h *Hub) retell(now time.Time) {
	began, before := h.Now(), h.scene
	s := newScene(before.last, h.Controls, nil)
	s.names, s.others, s.account = before.names, before.others, before.account.WithoutEvents()
	h.scene = s
	h.log.begin("run", s.runFrame(true))
	h.trouble.told = ""
	var shown time.Time
	for _, event := range witness.InOrder(slices.Concat(before.account.Events, before.late)) {
		if event.Replied.Sub(shown) > frameTime {
			shown = event.Replied
			h.showPast(shown)
		}
		s.record(event)
	}
	h.showPast(now)
	h.publishTally()
	h.retellAt = now.Add(retellPause * h.Now().Sub(began))
}

func (h *Hub) lookSoon() {
	select {
	case h.hurry <- struct{}{}:
	default:
	}
}

// settled takes the events from the inbox, in order, that none will come before any more. h.mu is held.
func (h *Hub) settled(now time.Time) []witness.Event {
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
