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

// Run runs a trial. It returns its cell, and the round trips that its processes measured. A failure of the contestant is recorded in the
// cell; Run itself fails if Redis fails, and when ctx ends.
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
			c.waitForExit()
		}
	}()
	if err != nil {
		cell.Status, cell.Note = result.Failed, err.Error()
		return cell, pings, ctx.Err()
	}
	reports, publishes, err := t.runWindow(run, trial, workers)
	switch {
	case ctx.Err() != nil:
		return cell, pings, ctx.Err()
	case errors.Is(err, errNoReport):
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
	fillCell(&cell, reports, publishes, Stock-left)
	return cell, pings, nil
}

// prepare empties the servers and sets the stock.
func (t *Testbed) prepare(ctx context.Context, of contestants.Contestant) error {
	if err := t.ensureServers(ctx, max(of.Nodes, 1)); err != nil {
		return err
	}
	t.isUsed = true
	for _, node := range t.nodes {
		if err := node.FlushDB(ctx).Err(); err != nil {
			return fmt.Errorf("FLUSHDB: %w", err)
		}
	}
	store := dao.NewStore(t.nodes[0], contestants.Run, Stock)
	if err := store.Start(ctx, history.Run{}, history.Run{ID: contestants.Run, Initial: Stock, Segments: of.Segments}); err != nil {
		return fmt.Errorf("starting a run: %w", err)
	}
	return nil
}

// start starts the processes of a trial and waits until they are ready. Also if it fails, it returns those that it started.
func (t *Testbed) start(ctx context.Context, trial Trial) ([]*workerProcess, []time.Duration, error) {
	var addrs []string
	for _, node := range t.nodes[:max(trial.Contestant.Nodes, 1)] {
		addrs = append(addrs, node.Options().Addr)
	}
	rest := millisToDuration(t.Settings.RestMillis)
	if trial.Contestant.Kind == contestants.Limit {
		rest = 0
	}
	var workers []*workerProcess
	for i, buyers := range trial.buyers() {
		c, err := startWorker(ctx, t.Command)
		if err != nil {
			return workers, nil, err
		}
		workers = append(workers, c)
		if err := c.send(worker.Job{
			Contestant: trial.Contestant.Name, Addrs: addrs, Buyers: buyers, Process: fmt.Sprintf("process-%d", i+1),
			RoundTrip: millisToDuration(trial.AddedMillis), Pool: t.Settings.Pool,
			Retry: millisToDuration(t.Settings.RetryMillis), TTL: millisToDuration(t.Settings.TTLMillis),
			Wait: millisToDuration(t.Settings.WaitMillis), Rest: rest,
		}); err != nil {
			return workers, nil, err
		}
	}
	var pings []time.Duration
	for _, c := range workers {
		var ready worker.Ready
		if err := c.receive(&ready, t.reportTimeout()); err != nil {
			return workers, pings, fmt.Errorf("starting a worker: %w", err)
		}
		pings = append(pings, ready.Ping)
	}
	return workers, pings, nil
}

// runWindow runs the window. It returns the reports of the worker processes, and the number of PUBLISH commands that the servers ran
// within it.
func (t *Testbed) runWindow(ctx context.Context, trial Trial, workers []*workerProcess) ([]worker.Report, int64, error) {
	begin := time.Now().Add(trial.Warmup)
	window := worker.Window{Begin: begin, End: begin.Add(trial.Window)}
	for _, c := range workers {
		if err := c.send(window); err != nil {
			return nil, 0, err
		}
	}
	before, err := t.countPublishesAt(ctx, window.Begin)
	if err != nil {
		return nil, 0, err
	}
	after, err := t.countPublishesAt(ctx, window.End)
	if err != nil {
		return nil, 0, err
	}
	var reports []worker.Report
	for _, c := range workers {
		var report worker.Report
		if err := c.receive(&report, t.reportTimeout()); err != nil {
			return nil, 0, err
		}
		reports = append(reports, report)
	}
	return reports, after - before, nil
}

// countPublishesAt waits until a time, and returns the number of PUBLISH commands on all servers so far.
func (t *Testbed) countPublishesAt(ctx context.Context, at time.Time) (int64, error) {
	select {
	case <-time.After(time.Until(at)):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	sum := int64(0)
	for _, node := range t.nodes {
		n, err := redisserver.CountPublishes(ctx, node)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func (t *Testbed) reportTimeout() time.Duration {
	if t.ReportTimeout > 0 {
		return t.ReportTimeout
	}
	return reportTimeout
}

func millisToDuration(millis float64) time.Duration {
	return time.Duration(millis * float64(time.Millisecond))
}
