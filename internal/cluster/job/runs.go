package job

import (
	"context"
	"errors"
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
	// MaxTicks is how many ticks may be counted: 28 hours of ticks of a second.
	MaxTicks = 100_000
	// MaxEvents is how many beginnings and ends of runs are remembered: MaxTicks, where no tick is run more than twice.
	MaxEvents = 4 * MaxTicks
)

// The fields of the record: the tick of a run that begins, and who runs it; or the id of a run that ends.
const (
	beganField = "tick"
	byField    = "replica"
	endedField = "ended"
)

// rights returns what the record and the trial of the lock need.
func rights() strategy.Rights {
	return strategy.Rights("+multi +exec +xadd +xrange +pexpire ~{" + jobName + "}:events").And(strategy.TrialRight(jobName))
}

// Runs is the record of a job's runs in Redis, the stream {NAME}:events. Redis puts their beginnings and ends in one order, whatever the
// replicas' clocks show. The record lives as long as MaxTicks ticks take.
type Runs struct {
	Client redis.Cmdable
	Name   string // of the job
	Every  Every
	Events int64 // how many are remembered, at least

	Replica string // that runs
}

// Run is one run of a tick.
type Run struct {
	ID      string // of its beginning in the record
	Tick    time.Time
	Replica string    // that ran it
	Began   time.Time // by Redis's clock
	End     time.Time // by Redis's clock; zero if the run is going on, or its replica died
	Beside  bool      // it began while another run was going on
}

func (r *Runs) key() string { return "{" + r.Name + "}:events" }

// Begin records that a run of a tick begins, and gives its id. It fails as rediserr.Classify says.
func (r *Runs) Begin(ctx context.Context, tick time.Time) (id string, err error) {
	return r.add(ctx, beganField, tick.UTC().Format(time.RFC3339Nano), byField, r.Replica)
}

// End records that a run is over. It fails as rediserr.Classify says.
func (r *Runs) End(ctx context.Context, id string) error {
	_, err := r.add(ctx, endedField, id)
	return err
}

func (r *Runs) add(ctx context.Context, values ...string) (string, error) {
	var added *redis.StringCmd
	_, err := r.Client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		added = tx.XAdd(ctx, &redis.XAddArgs{Stream: r.key(), MaxLen: r.Events, Approx: true, Values: values})
		tx.PExpire(ctx, r.key(), MaxTicks*time.Duration(r.Every))
		return nil
	})
	if err != nil {
		return "", rediserr.Classify(ctx, "XADD "+r.key(), err)
	}
	return added.Val(), nil
}

// All returns the recorded runs in the order of their beginnings; complete reports whether none is forgotten. It
// fails as rediserr.Classify says.
func (r *Runs) All(ctx context.Context) (runs []Run, complete bool, err error) {
	const some = 1000
	read := int64(0)
	for from := "-"; ; {
		var page *redis.XMessageSliceCmd
		err := dao.OnMaster(ctx, r.Client, r.key(), func(tx redis.Pipeliner) { page = tx.XRangeN(ctx, r.key(), from, "+", some) })
		if err != nil {
			return nil, false, rediserr.Classify(ctx, "MULTI "+r.key(), err)
		}
		events := page.Val()
		for _, event := range events {
			if runs, err = heard(runs, event); err != nil {
				return nil, false, fmt.Errorf("%s: %s: %w", r.key(), event.ID, err)
			}
			from = "(" + event.ID
		}
		if read += int64(len(events)); len(events) < some {
			return runs, read < r.Events, nil
		}
	}
}

// heard adds an event to the runs before it.
func heard(runs []Run, event redis.XMessage) ([]Run, error) {
	at, _, _ := strings.Cut(event.ID, "-")
	millis, err := strconv.ParseInt(at, 10, 64)
	if text, began := event.Values[beganField].(string); began {
		tick, tickErr := time.Parse(time.RFC3339Nano, text)
		replica, _ := event.Values[byField].(string)
		return append(runs, Run{ID: event.ID, Tick: tick, Replica: replica, Began: time.UnixMilli(millis)}), errors.Join(err, tickErr)
	}
	ended := len(runs) - 1
	for ended >= 0 && runs[ended].ID != event.Values[endedField] {
		ended--
	}
	if ended < 0 {
		return runs, err // its beginning is forgotten
	}
	runs[ended].End = time.UnixMilli(millis)
	for i := ended + 1; i < len(runs); i++ {
		runs[i].Beside = true
	}
	return runs, err
}
