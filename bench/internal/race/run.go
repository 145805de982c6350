package race

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/redisserver"
	"lockstep/bench/internal/result"
	"lockstep/bench/internal/worker"
	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// Run runs a trial. It returns what was measured, and the round trips that its processes found. A failure of the contestant is
// recorded in the cell; Run itself fails if there is no Redis, and when ctx ends.
func (t *Testbed) Run(ctx context.Context, trial Trial) (result.Cell, []time.Duration, error) {
	cell := result.Cell{
		Contestant: trial.Contestant.Name, Kind: trial.Contestant.Kind, Condition: trial.Condition, Repetition: trial.Repetition,
		Seconds: trial.Window.Seconds(),
	}
	if err := t.prepare(ctx, trial.Contestant); err != nil {
		return cell, nil, err
	}
	run, end := context.WithCancel(ctx)
	defer end()
	workers, pings, err := t.start(run, trial)
	defer func() {
		end()
		for _, c := range workers {
			c.wait()
		}
	}()
	if err != nil {
		cell.Status, cell.Note = result.Failed, err.Error()
		return cell, pings, ctx.Err()
	}
	reports, publishes, err := t.measure(run, trial, workers)
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
func (t *Testbed) prepare(ctx context.Context, of contestants.Contestant) error {
	if err := t.need(ctx, max(of.Nodes, 1)); err != nil {
		return err
	}
	t.used = true
	for _, node := range t.nodes {
		if err := node.FlushDB(ctx).Err(); err != nil {
			return fmt.Errorf("FLUSHDB: %w", err)
		}
	}
	store := dao.NewStore(t.nodes[0], contestants.Run, Stock)
	if err := store.Start(ctx, history.Run{}, history.Run{ID: contestants.Run, Initial: Stock, Segments: of.Parts}); err != nil {
		return fmt.Errorf("beginning a run: %w", err)
	}
	return nil
}

// start starts the processes of a trial and waits until they are ready. Even if it fails it returns those that it started.
func (t *Testbed) start(ctx context.Context, trial Trial) ([]*child, []time.Duration, error) {
	var addrs []string
	for _, node := range t.nodes[:max(trial.Contestant.Nodes, 1)] {
		addrs = append(addrs, node.Options().Addr)
	}
	rest := duration(t.Settings.RestMillis)
	if trial.Contestant.Kind == contestants.Limit {
		rest = 0
	}
	var workers []*child
	for i, buyers := range trial.buyers() {
		c, err := startChild(ctx, t.Command)
		if err != nil {
			return workers, nil, err
		}
		workers = append(workers, c)
		if err := c.tell(worker.Job{
			Contestant: trial.Contestant.Name, Addrs: addrs, Buyers: buyers, Process: fmt.Sprintf("process-%d", i+1),
			RoundTrip: duration(trial.AddedMillis), Pool: t.Settings.Pool,
			Retry: duration(t.Settings.RetryMillis), TTL: duration(t.Settings.TTLMillis), Wait: duration(t.Settings.WaitMillis), Rest: rest,
		}); err != nil {
			return workers, nil, err
		}
	}
	var pings []time.Duration
	for _, c := range workers {
		var ready worker.Ready
		if err := c.hear(&ready, t.patience()); err != nil {
			return workers, pings, fmt.Errorf("before the start: %w", err)
		}
		pings = append(pings, ready.Ping)
	}
	return workers, pings, nil
}

// measure runs the window. It returns the reports of the worker processes, and how many PUBLISH the servers ran within it.
func (t *Testbed) measure(ctx context.Context, trial Trial, workers []*child) ([]worker.Report, int64, error) {
	begin := time.Now().Add(trial.Warmup)
	window := worker.Window{Begin: begin, End: begin.Add(trial.Window)}
	for _, c := range workers {
		if err := c.tell(window); err != nil {
			return nil, 0, err
		}
	}
	before, err := t.publishedAt(ctx, window.Begin)
	if err != nil {
		return nil, 0, err
	}
	after, err := t.publishedAt(ctx, window.End)
	if err != nil {
		return nil, 0, err
	}
	var reports []worker.Report
	for _, c := range workers {
		var report worker.Report
		if err := c.hear(&report, t.patience()); err != nil {
			return nil, 0, err
		}
		reports = append(reports, report)
	}
	return reports, after - before, nil
}

// publishedAt waits for a time and then counts the PUBLISH commands on all servers so far.
func (t *Testbed) publishedAt(ctx context.Context, at time.Time) (int64, error) {
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

func (t *Testbed) patience() time.Duration {
	if t.Patience > 0 {
		return t.Patience
	}
	return patience
}

func duration(millis float64) time.Duration { return time.Duration(millis * float64(time.Millisecond)) }
