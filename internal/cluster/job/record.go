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
	jobName   = "job" // the job's name, and the key of its lock
	recordKey = "{" + jobName + "}:events"

	// MaxTicks is how many ticks may be counted: 28 hours of ticks of a second.
	MaxTicks = 100_000
	// maxEvents is how many beginnings and ends of runs are remembered, at least: MaxTicks, where no tick is run more than twice.
	maxEvents = 4 * MaxTicks
)

// rights returns what the record and the trial of the lock need.
func rights() strategy.Rights {
	return strategy.ParseRights("+multi +exec +xadd +xrange +pexpire ~" + recordKey).Union(strategy.TrialRights(jobName))
}

// Record is the record of a job's runs in Redis, the stream {job}:events. Redis puts their beginnings and ends in one order, whatever the
// replicas' clocks show. The record lives as long as MaxTicks ticks take.
type Record struct {
	Client redis.Cmdable
	Every  Every
}

// Run is one run of a tick.
type Run struct {
	Tick    time.Time
	Replica string    // name of the replica that ran the tick
	Began   time.Time // when the run began, by Redis's clock
	End     time.Time // when the run ended, by Redis's clock; zero if it goes on, or its replica died
	Beside  bool      // whether the run began while another was going on
}

// Begin records that a replica begins to run a tick, and gives the id of the run. It fails as rediserr.Classify says.
func (r Record) Begin(ctx context.Context, tick time.Time, replica string) (id string, err error) {
	return r.add(ctx, "tick", tick.UTC().Format(time.RFC3339Nano), "replica", replica)
}

// End records that a run is over. It fails as rediserr.Classify says.
func (r Record) End(ctx context.Context, id string) error {
	_, err := r.add(ctx, "ended", id)
	return err
}

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

// Runs returns the recorded runs in the order of their beginnings. It fails as rediserr.Classify says.
func (r Record) Runs(ctx context.Context) (runs []Run, err error) {
	indexes := map[string]int{} // of runs, by their ids
	for from := "-"; ; {
		var page *redis.XMessageSliceCmd
		err := dao.OnMaster(ctx, r.Client, recordKey, func(tx redis.Pipeliner) { page = tx.XRangeN(ctx, recordKey, from, "+", 1000) })
		if err != nil {
			return nil, rediserr.Classify(ctx, "MULTI "+recordKey, err)
		}
		if len(page.Val()) == 0 {
			return runs, nil
		}
		for _, event := range page.Val() {
			from = "(" + event.ID
			id, over := event.Values["ended"].(string)
			if !over {
				run, err := begun(event)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", recordKey, event.ID, err)
				}
				indexes[event.ID] = len(runs)
				runs = append(runs, run)
			} else if i, known := indexes[id]; known {
				runs[i].End = clock(event)
				for j := i + 1; j < len(runs); j++ {
					runs[j].Beside = true
				}
			}
		}
	}
}

// begun returns the run that an event begins.
func begun(event redis.XMessage) (Run, error) {
	text, _ := event.Values["tick"].(string)
	replica, _ := event.Values["replica"].(string)
	tick, err := time.Parse(time.RFC3339Nano, text)
	return Run{Tick: tick, Replica: replica, Began: clock(event)}, err
}

// clock returns the time of an event by Redis's clock, with which its id begins.
func clock(event redis.XMessage) time.Time {
	text, _, _ := strings.Cut(event.ID, "-")
	millis, _ := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(millis)
}
