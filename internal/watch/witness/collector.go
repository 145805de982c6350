package witness

import (
	"context"
	"slices"
	"sync"
)

// Collector collects the events of several replicas.
type Collector struct {
	mu     sync.Mutex
	events []Event       // as they came
	news   chan struct{} // closed when there is another event
}

// NewCollector makes an empty one.
func NewCollector() *Collector { return &Collector{news: make(chan struct{})} }

// Collect is See, as Follow calls it.
func (c *Collector) Collect(_ string, event Event) { c.Record(event) }

// Record adds an event. It may come late: another replica's stream was faster.
func (c *Collector) Record(event Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event)
	close(c.news)
	c.news = make(chan struct{})
}

// Events gives those seen so far, in order of time.
func (c *Collector) Events() []Event {
	events, _ := c.look()
	return events
}

// Until waits until the events seen so far satisfy a condition. It fails when ctx ends, with its cause.
func (c *Collector) Until(ctx context.Context, condition func([]Event) bool) error {
	for {
		events, news := c.look()
		if condition(events) {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *Collector) look() ([]Event, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return InOrder(c.events), c.news
}

// InOrder gives the events of several replicas in order of the time when each was over.
func InOrder(events []Event) []Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int { return a.Replied.Compare(b.Replied) })
	return events
}
