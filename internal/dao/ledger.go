package dao

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

const (
	// heartbeat is how long a replica counts as living after its last heartbeat.
	heartbeat = 5 * time.Second
	// readyTTL is how long what a probe wrote stays.
	readyTTL = time.Second
	// keepSeconds is how long at least an order can be looked up; keepRuns is the number of earlier runs whose orders are kept.
	keepSeconds = 24 * 60 * 60
	keepRuns    = 100
)

// Enter lets a sale in, if the door is open, and counts it as in flight, in one script.
func (s *Store) Enter(ctx context.Context, sale string) (history.Run, error) {
	reply, err := s.askIn(ctx, sale)
	if rediserr.HasCode(err, "OOM") {
		s.forgetRunsOver(ctx)
		reply, err = s.askIn(ctx, sale)
	}
	if err != nil {
		return history.Run{}, s.failure(ctx, "EVAL enter.lua", "", err)
	}
	switch reply[0] {
	case "in":
		return parseRun(map[string]string{"id": reply[1], "lock": reply[2], "initial": reply[3], "tuning": reply[4]})
	case "closed":
		return history.Run{}, service.ErrDoorClosed
	case "bad":
		return history.Run{}, s.badData(ctx, "", errMended)
	default:
		return history.Run{}, service.ErrRunChanged
	}
}

func (s *Store) askIn(ctx context.Context, sale string) ([]string, error) {
	keys := []string{DoorKey, RunKey, InventoryKey, inFlightKey}
	return s.client.Eval(ctx, lua.Enter, keys, sale, s.instance).StringSlice()
}

// Leave counts a sale as over.
func (s *Store) Leave(ctx context.Context, sale string) error {
	return rediserr.Classify(ctx, "HDEL in_flight", s.client.HDel(ctx, inFlightKey, sale).Err())
}

// Run reads the run's hash.
func (s *Store) Run(ctx context.Context) (history.Run, error) {
	var fields *redis.MapStringStringCmd
	err := OnMaster(ctx, s.client, RunKey, func(tx redis.Pipeliner) { fields = tx.HGetAll(ctx, RunKey) })
	if err != nil {
		return history.Run{}, s.failure(ctx, "MULTI run", "", err)
	}
	return parseRun(fields.Val())
}

// Tally counts a run as it is at one moment.
func (s *Store) Tally(ctx context.Context) (history.Tally, error) {
	var fields *redis.MapStringStringCmd
	var stock *redis.StringCmd
	var inFlight *redis.IntCmd
	err := OnMaster(ctx, s.client, RunKey, func(tx redis.Pipeliner) {
		fields = tx.HGetAll(ctx, RunKey)
		stock = tx.Get(ctx, InventoryKey)
		inFlight = tx.HLen(ctx, inFlightKey)
	})
	if err != nil && !isAboutStock(err) {
		return history.Tally{}, rediserr.Classify(ctx, "MULTI tally", err)
	}
	run, err := parseRun(fields.Val())
	if err != nil {
		return history.Tally{}, err
	}
	value, err := stock.Result()
	if run.ID == "" || inFlight.Val() == 0 && value != fields.Val()["written"] {
		return history.Tally{}, service.ErrRunChanged
	}
	remaining, err := readStock(ctx, value, err)
	if err != nil {
		return history.Tally{}, err
	}
	tally := history.Tally{Run: run, Remaining: remaining, InFlight: inFlight.Val()}
	for name, count := range map[string]*int64{"sold": &tally.Sold, "max_in_flight": &tally.MaxInFlight} {
		if *count, err = parseCount(name, fields.Val()[name]); err != nil {
			return history.Tally{}, err
		}
	}
	return tally, nil
}

// isAboutStock reports whether an error is one that readStock explains: it is no failure of Redis.
func isAboutStock(err error) bool {
	return errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE")
}

// HandSet compares the stock with what the run wrote last.
func (s *Store) HandSet(ctx context.Context) (int64, bool, error) {
	var written, stock *redis.StringCmd
	err := OnMaster(ctx, s.client, RunKey, func(tx redis.Pipeliner) {
		written = tx.HGet(ctx, RunKey, "written")
		stock = tx.Get(ctx, InventoryKey)
	})
	if err != nil && !isAboutStock(err) {
		return 0, false, s.failure(ctx, "MULTI stock", "", err)
	}
	if err := written.Err(); err != nil && !errors.Is(err, redis.Nil) {
		return 0, false, s.failure(ctx, "HGET run", "", err)
	}
	value, err := stock.Result()
	if errors.Is(err, redis.Nil) || err == nil && value == written.Val() {
		return 0, false, nil
	}
	set, err := readStock(ctx, value, err)
	return set, err == nil, err
}

// Start begins a run and writes its stock in one script. The orders of earlier runs stay for some time.
func (s *Store) Start(ctx context.Context, last, next history.Run) error {
	begun, err := s.client.Eval(ctx, lua.StartRun, []string{InventoryKey, RunKey, overKey, fenceKey},
		last.ID, next.ID, next.Lock, next.Initial, next.Settings,
		ordersPrefix, keepSeconds, s.maxOrders, keepRuns, next.Tuning.String(), next.Forgot).Int()
	switch {
	case err != nil:
		return s.failure(ctx, "EVAL startRun.lua", last.ID, err)
	case begun == 0:
		return fmt.Errorf("%w: another one began first", service.ErrRunOver)
	}
	return nil
}

// Beat renews this replica's place among the living, forgets the dead ones and their sales in flight, and reads the run. Time is Redis's
// own. A replica of Redis refuses the transaction, since it writes.
func (s *Store) Beat(ctx context.Context, live func(sale string) bool) (history.Run, int64, error) {
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return history.Run{}, 0, rediserr.Classify(ctx, "TIME", err)
	}
	var living *redis.ZSliceCmd
	var sales, fields *redis.MapStringStringCmd
	_, err = s.client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.ZAdd(ctx, replicasKey, redis.Z{Score: float64(now.Add(heartbeat).UnixMilli()), Member: s.instance})
		living = s.forgetDead(ctx, tx, now)
		sales = tx.HGetAll(ctx, inFlightKey)
		fields = tx.HGetAll(ctx, RunKey)
		return nil
	})
	if err != nil {
		return history.Run{}, 0, s.failure(ctx, "MULTI heartbeat", "", err)
	}
	var over []string
	others := s.others(living)
	for sale, instance := range sales.Val() {
		_, other := others[instance]
		if mine := instance == s.instance; !mine && !other || mine && !live(sale) {
			over = append(over, sale)
		}
	}
	if len(over) > 0 {
		if err := s.client.HDel(ctx, inFlightKey, over...).Err(); err != nil {
			return history.Run{}, 0, rediserr.Classify(ctx, "HDEL in_flight", err)
		}
	}
	run, err := parseRun(fields.Val())
	return run, int64(len(sales.Val()) - len(over)), err
}

// Others forgets the replicas that count as dead, and returns the living ones except this one.
func (s *Store) Others(ctx context.Context) (map[string]time.Time, error) {
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return nil, rediserr.Classify(ctx, "TIME", err)
	}
	var living *redis.ZSliceCmd
	_, err = s.client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		living = s.forgetDead(ctx, tx, now)
		return nil
	})
	if err != nil {
		return nil, s.failure(ctx, "MULTI replicas", "", err)
	}
	return s.others(living), nil
}

// forgetDead forgets the replicas that count as dead, and reads the others.
func (*Store) forgetDead(ctx context.Context, tx redis.Pipeliner, now time.Time) *redis.ZSliceCmd {
	tx.ZRemRangeByScore(ctx, replicasKey, "-inf", strconv.FormatInt(now.UnixMilli(), 10))
	return tx.ZRangeWithScores(ctx, replicasKey, 0, -1)
}

// others returns the living replicas except this one, with the time of their last heartbeat.
func (s *Store) others(living *redis.ZSliceCmd) map[string]time.Time {
	others := map[string]time.Time{}
	for _, replica := range living.Val() {
		if instance := fmt.Sprint(replica.Member); instance != s.instance {
			others[instance] = time.UnixMilli(int64(replica.Score)).Add(-heartbeat)
		}
	}
	return others
}

// Probe tries whether a sale could write now, by a key of its own, which expires.
func (s *Store) Probe(ctx context.Context) error {
	return rediserr.Classify(ctx, "SET "+readyKey, s.client.Set(ctx, readyKey, s.instance, readyTTL).Err())
}

// Quit takes this replica out of the living.
func (s *Store) Quit(ctx context.Context) error {
	return rediserr.Classify(ctx, "ZREM replicas", s.client.ZRem(ctx, replicasKey, s.instance).Err())
}

// parseRun reads the fields of the run's hash. Without an id there is no run: a sale that went on while the keys were
// deleted leaves a hash without one.
func parseRun(fields map[string]string) (history.Run, error) {
	if fields["id"] == "" {
		return history.Run{}, nil
	}
	initial, err := parseCount("initial", fields["initial"])
	if err != nil {
		return history.Run{}, err
	}
	tuning, err := history.ParseTuning(fields["tuning"])
	if err != nil {
		return history.Run{}, badKey(RunKey, fmt.Sprintf("the field tuning of the key %s: %s", RunKey, err))
	}
	return history.Run{
		ID: fields["id"], Lock: fields["lock"], Initial: initial, Settings: fields["settings"], Tuning: tuning, Forgot: fields["forgot"] == "1",
	}, nil
}
