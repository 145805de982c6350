package race

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/bench/internal/contest"
	"lockstep/bench/internal/crew"
	"lockstep/bench/internal/redisserver"
	"lockstep/bench/internal/result"
	"lockstep/internal/dao"
)

// Run runs a heat, and gives what it measured and the round trips that its processes found. What goes wrong with the contestant is
// in the cell; it fails when there is no Redis to run on, and when ctx ends.
func (t *Track) Run(ctx context.Context, heat Heat) (result.Cell, []time.Duration, error) {
	cell := result.Cell{
		Contestant: heat.Contestant.Name, Kind: heat.Contestant.Kind, Condition: heat.Condition, Repetition: heat.Repetition,
		Seconds: heat.Stretch.Seconds(),
	}
	if err := t.prepare(ctx, max(heat.Contestant.Nodes, 1)); err != nil {
		return cell, nil, err
	}
	run, end := context.WithCancel(ctx)
	defer end()
	crews, pings, err := t.start(run, heat)
	defer func() {
		end()
		for _, c := range crews {
			c.wait()
		}
	}()
	if err != nil {
		cell.Status, cell.Note = result.Failed, err.Error()
		return cell, pings, ctx.Err()
	}
	reports, publishes, err := t.measure(run, heat, crews)
	switch {
	case ctx.Err() != nil:
		return cell, pings, ctx.Err()
	case errors.Is(err, errHung):
		cell.Status, cell.Note = result.Hung, err.Error()
		return cell, pings, nil
	case err != nil:
		cell.Status, cell.Note = result.Failed, err.Error()
		return cell, pings, nil
	}
	left, err := t.nodes[0].Get(ctx, dao.InventoryKey).Int()
	if err != nil {
		return cell, pings, fmt.Errorf("GET %s: %w", dao.InventoryKey, err)
	}
	fill(&cell, reports, publishes, Stock-left)
	return cell, pings, nil
}

// prepare empties the servers and sets the stock.
func (t *Track) prepare(ctx context.Context, nodes int) error {
	if err := t.need(ctx, nodes); err != nil {
		return err
	}
	t.used = true
	for _, node := range t.nodes {
		if err := node.FlushDB(ctx).Err(); err != nil {
			return fmt.Errorf("FLUSHDB: %w", err)
		}
	}
	if err := t.nodes[0].Set(ctx, dao.InventoryKey, Stock, 0).Err(); err != nil {
		return fmt.Errorf("SET %s: %w", dao.InventoryKey, err)
	}
	if err := t.nodes[0].HSet(ctx, dao.RunKey, "id", contest.Run).Err(); err != nil {
		return fmt.Errorf("HSET %s: %w", dao.RunKey, err)
	}
	return nil
}

// start starts the processes of a heat and waits until they are ready. It gives those it started even if it fails.
func (t *Track) start(ctx context.Context, heat Heat) ([]*child, []time.Duration, error) {
	var addrs []string
	for _, node := range t.nodes[:max(heat.Contestant.Nodes, 1)] {
		addrs = append(addrs, node.Options().Addr)
	}
	rest := duration(t.Settings.RestMillis)
	if heat.Contestant.Kind == contest.Limit {
		rest = 0
	}
	var crews []*child
	for i, workers := range heat.workers() {
		c, err := startChild(ctx, t.Command)
		if err != nil {
			return crews, nil, err
		}
		crews = append(crews, c)
		if err := c.tell(crew.Job{
			Contestant: heat.Contestant.Name, Addrs: addrs, Workers: workers, Process: fmt.Sprintf("process-%d", i+1),
			RoundTrip: duration(heat.AddedMillis), Pool: t.Settings.Pool,
			Retry: duration(t.Settings.RetryMillis), TTL: duration(t.Settings.TTLMillis), Wait: duration(t.Settings.WaitMillis), Rest: rest,
		}); err != nil {
			return crews, nil, err
		}
	}
	var pings []time.Duration
	for _, c := range crews {
		var ready crew.Ready
		if err := c.hear(&ready, t.patience()); err != nil {
			return crews, pings, fmt.Errorf("before the start: %w", err)
		}
		pings = append(pings, ready.Ping)
	}
	return crews, pings, nil
}

// measure runs the stretch. It gives the crews' reports, and how many PUBLISH the servers ran in it.
func (t *Track) measure(ctx context.Context, heat Heat, crews []*child) ([]crew.Report, int64, error) {
	begin := time.Now().Add(heat.Warmup)
	stretch := crew.Stretch{Begin: begin, End: begin.Add(heat.Stretch)}
	for _, c := range crews {
		if err := c.tell(stretch); err != nil {
			return nil, 0, err
		}
	}
	before, err := t.publishedAt(ctx, stretch.Begin)
	if err != nil {
		return nil, 0, err
	}
	after, err := t.publishedAt(ctx, stretch.End)
	if err != nil {
		return nil, 0, err
	}
	var reports []crew.Report
	for _, c := range crews {
		var report crew.Report
		if err := c.hear(&report, t.patience()); err != nil {
			return nil, 0, err
		}
		reports = append(reports, report)
	}
	return reports, after - before, nil
}

// publishedAt waits for a time and then counts the PUBLISH commands on all servers so far.
func (t *Track) publishedAt(ctx context.Context, at time.Time) (int64, error) {
	select {
	case <-time.After(time.Until(at)):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	sum := int64(0)
	for _, node := range t.nodes {
		n, err := redisserver.Published(ctx, node)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func (t *Track) patience() time.Duration {
	if t.Patience > 0 {
		return t.Patience
	}
	return patience
}

func duration(millis float64) time.Duration { return time.Duration(millis * float64(time.Millisecond)) }
