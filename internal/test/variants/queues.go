package variants

import (
	"context"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// queues are locks with an order, which somebody upsets.
func queues() []Variant {
	return []Variant{
		{Name: "a ticket whose holder dies", Lock: ofTake(tickets), Scenario: once("crash"), Shows: anomaly.Stuck, Steps: 4},
		{Name: "a ticket whose holder leaves", Lock: ofTake(tickets), Scenario: once("cancel"), Shows: anomaly.Stuck, Steps: 6},
		{Name: "two tickets with one number", Lock: ofTake(twinTickets), Shows: anomaly.TwoHolders, Steps: 6},
		{
			Name: "a place in line that is left behind", Lock: ofTake(line(false, popOnce)), Scenario: once("cancel"),
			Shows: anomaly.Stuck, Steps: 6,
		},
		{Name: "a line that is popped twice", Lock: ofTake(line(true, popTwice)), Scenario: once("lost-reply"), Shows: anomaly.Stuck, Steps: 9},
		{Name: "a place in line of one that dies", Lock: ofTake(line(true, popOnce)), Scenario: once("crash"), Shows: anomaly.Stuck, Steps: 4},
		{Name: "hand-over to one that has left", Lock: ofTake(handsOver), Scenario: once("cancel"), Shows: anomaly.LeftBehind, Steps: 7},
		{
			Name: "a line by local clocks", Lock: ofTake(lineByClock),
			Scenario: explore.Scenario{Skew: 15 * time.Second}, Shows: anomaly.TwoHolders, Steps: 4,
		},
		{Name: "a token that is put back when it is out", Lock: polls(tokenPutBack), Shows: anomaly.TwoHolders, Steps: 6},
	}
}

// until polls until it is so, after a pause.
func (p process) until(ctx context.Context, so func() (bool, error)) error {
	if err := lock.Sleep(ctx, p.Clock, p.RetryInterval); err != nil {
		return err
	}
	return p.polls(ctx, so)
}

// polls is until without that pause.
func (p process) polls(ctx context.Context, so func() (bool, error)) error {
	_, err := lock.Poll(ctx, p.Options, func() (struct{}, error) {
		yes, err := so()
		if err == nil {
			err = obtained(yes)
		}
		return struct{}{}, err
	})
	return err
}

// tickets takes a number, and waits until it is served.
func tickets(p process) take { return served(p, p.dispense) }

func (p process) dispense(ctx context.Context) (int64, error) {
	return p.number(ctx, "INCR", under("next"))
}

func served(p process, dispense func(context.Context) (int64, error)) take {
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		mine, err := dispense(ctx)
		if err != nil {
			return nil, err
		}
		err = p.until(ctx, func() (bool, error) {
			served, err := p.number(ctx, "GET", under("served"))
			return served+1 == mine, err
		})
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, p.does("INCR", under("served"))), nil
	}
}

// twinTickets reads the number, and then writes the next one.
func twinTickets(p process) take {
	return served(p, func(ctx context.Context) (int64, error) {
		last, err := p.number(ctx, "GET", under("next"))
		if err != nil {
			return 0, err
		}
		_, err = p.text(ctx, "SET", under("next"), last+1)
		return last + 1, err
	})
}

// line waits in a list until it is its first. One that leaves gives up its place, if it is tidy.
func line(tidy bool, pop func(p process, owner string) unlock) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			_, err := p.number(ctx, "RPUSH", under("line"), owner)
			if err == nil {
				err = p.until(ctx, func() (bool, error) {
					first, err := p.text(ctx, "LINDEX", under("line"), 0)
					return first == owner, err
				})
			}
			if err != nil && tidy {
				_ = lock.WithDetachedTimeout(ctx, p.Clock, p.does("LREM", under("line"), 1, owner))
			}
			if err != nil {
				return nil, err
			}
			return p.lease(ctx, pop(p, owner)), nil
		}
	}
}

func popOnce(p process, _ string) unlock { return p.does("LPOP", under("line")) }

// popTwice does it once more when it was not answered.
func popTwice(p process, owner string) unlock {
	return func(ctx context.Context) error {
		if popOnce(p, owner)(ctx) == nil {
			return nil
		}
		return popOnce(p, owner)(ctx)
	}
}

// handsOver makes the first that waits the next holder, and does not know whether it waits still.
func handsOver(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		got, err := p.script(ctx, `if redis.call('SET', KEYS[1], ARGV[1], 'NX') then return 1 end
			redis.call('RPUSH', KEYS[2], ARGV[1]) return 0`, []string{under("line")}, owner)
		if err == nil && got == 0 {
			err = p.until(ctx, func() (bool, error) {
				holder, err := p.text(ctx, "GET", key)
				return holder == owner, err
			})
		}
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, func(ctx context.Context) error {
			_, err := p.script(ctx, `local next = redis.call('LPOP', KEYS[2])
				if next then redis.call('SET', KEYS[1], next) else redis.call('DEL', KEYS[1]) end
				return 1`, []string{under("line")})
			return err
		}), nil
	}
}

// lineByClock waits until nobody came earlier, by the clocks of those who came.
func lineByClock(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		if _, err := p.number(ctx, "ZADD", under("line"), p.Clock.Now().UnixMilli(), owner); err != nil {
			return nil, err
		}
		err := p.until(ctx, func() (bool, error) {
			before, err := p.number(ctx, "ZRANK", under("line"), owner)
			return before == 0, err
		})
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, p.does("ZREM", under("line"), owner)), nil
	}
}

// tokenPutBack takes a token out of a list. A list that is empty does not exist, and seems new to it.
func tokenPutBack(p process) ask {
	pool := under("pool")
	return func(ctx context.Context, _ string) (unlock, error) {
		made, err := p.number(ctx, "EXISTS", pool)
		if err == nil && made == 0 {
			_, err = p.number(ctx, "RPUSH", pool, "token")
		}
		if err != nil {
			return nil, err
		}
		token, err := p.text(ctx, "LPOP", pool)
		if err == nil {
			err = obtained(token != "")
		}
		return p.does("RPUSH", pool, "token"), err
	}
}
