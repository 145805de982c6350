package job

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"

	"github.com/redis/go-redis/v9"
)

const (
	jobName   = "job" // name of the job, and key of its lock
	recordKey = "{" + jobName + "}:events"

	// MaxTicks is the largest number of ticks that a session counts: 28 hours of ticks of a second.
	MaxTicks = 100_000
	// maxEvents is the smallest number of beginnings and ends of runs that the record keeps: enough for MaxTicks if no tick is run more than
	// twice.
	maxEvents = 4 * MaxTicks
)

// rights returns the Redis rights that the record and the trial of the lock need.
func rights() strategy.Rights {
	return strategy.ParseRights("+multi +exec +xadd +xrange +pexpire ~" + recordKey).Union(strategy.TrialRights(jobName))
}

// Record is the record of a job's runs in Redis: the stream {job}:events. It has their beginnings and ends in the order of Redis, whatever
// the clocks of the replicas show. It expires after MaxTicks ticks.
type Record struct {
	Client redis.Cmdable
	Every  TickLength
}

// Run is one run of the job.
type Run struct {
	Tick     time.Time // tick that was run
	Replica  string    // name of the replica that ran the tick
	Began    time.Time // time at which the run began, by Redis's clock
	End      time.Time // time at which the run ended, by Redis's clock; zero: it goes on, or its replica died
	Overlaps bool      // whether the run began while another was going on
}

// Begin records that a replica begins to run a tick, and returns the id of the run. Its errors are those of rediserr.Classify.
func (r Record) Begin(ctx context.Context, tick time.Time, replica string) (id string, err error) {
	return r.add(ctx, "tick", tick.UTC().Format(time.RFC3339Nano), "replica", replica)
}

// End records that a run has ended. Its errors are those of rediserr.Classify.
func (r Record) End(ctx context.Context, id string) error {
	_, err := r.add(ctx, "ended", id)
	return err
}

// add appends an event to the stream.
func (r Record) add(ctx context.Context, values ...string) (id string, err error) {
	var added *redis.StringCmd
	_, err = r.Client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		added = tx.XAdd(ctx, &redis.XAddArgs{Stream: recordKey, MaxLen: maxEvents, Approx: true, Values: values})
		tx.PExpire(ctx, recordKey, MaxTicks*time.Duration(r.Every))
		return nil
	})
	if err != nil {
		return "", rediserr.Classify(ctx, "XADD "+recordKey, err)
	}
	return added.Val(), nil
}

// Runs returns the recorded runs in the order of their beginnings. Its errors are those of rediserr.Classify.
func (r Record) Runs(ctx context.Context) (runs []Run, err error) {
	indexes := map[string]int{} // index in runs, by the id of the run
	for from := "-"; ; {
		var page *redis.XMessageSliceCmd
		err := dao.ReadOnMaster(ctx, r.Client, recordKey, func(tx redis.Pipeliner) { page = tx.XRangeN(ctx, recordKey, from, "+", 1000) })
		if err != nil {
			return nil, rediserr.Classify(ctx, "MULTI "+recordKey, err)
		}
		if len(page.Val()) == 0 {
			return runs, nil
		}
		for _, event := range page.Val() {
			from = "(" + event.ID
			id, isEnd := event.Values["ended"].(string)
			if !isEnd {
				run, err := parseBeginning(event)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", recordKey, event.ID, err)
				}
				indexes[event.ID] = len(runs)
				runs = append(runs, run)
			} else if i, ok := indexes[id]; ok {
				runs[i].End = redisTime(event)
				for j := i + 1; j < len(runs); j++ {
					runs[j].Overlaps = true
				}
			}
		}
	}
}

// parseBeginning returns the run that an event begins.
func parseBeginning(event redis.XMessage) (Run, error) {
	text, _ := event.Values["tick"].(string)
	replica, _ := event.Values["replica"].(string)
	tick, err := time.Parse(time.RFC3339Nano, text)
	return Run{Tick: tick, Replica: replica, Began: redisTime(event)}, err
}

// redisTime returns the time of an event by Redis's clock, with which the id of the event begins.
func redisTime(event redis.XMessage) time.Time {
	text, _, _ := strings.Cut(event.ID, "-")
	millis, _ := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(millis)
}
