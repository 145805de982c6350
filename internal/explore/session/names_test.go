package session_test

import (
	"context"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
)

// byName is a lock that a smaller name takes from a greater one.
type byName struct{ strategy.Parts }

func (l byName) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.Options, func() (*lock.Lease, error) { return l.TryLock(ctx, owner) })
}

func (l byName) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	script := `local held = redis.call('GET', KEYS[1])
		if held and held <= ARGV[1] then return 0 end
		redis.call('SET', KEYS[1], ARGV[1])
		return 1`
	taken, err := l.Client.Eval(ctx, script, []string{l.Key}, owner).Bool()
	if err != nil {
		return nil, err
	}
	if !taken {
		return nil, lock.ErrNotObtained
	}
	return lock.NewLease(ctx, l.Clock, 0, func(ctx context.Context) error { return l.Client.Del(ctx, l.Key).Err() }), nil
}

// The actors of a lock that compares their names are not taken for the same on its map.
func TestAMapWhereNamesMatter(t *testing.T) {
	s, in := find(t, "v2"), explore.Scenario{Actors: 3}
	s.Name, s.New = "by-name", func(parts strategy.Parts) lock.Locker { return byName{parts} }
	m, err := session.Draw(t.Context(), s, in, explore.Bounds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := explore.Explore(t.Context(), s, in, explore.Goal{All: true}, explore.Bounds{EverySymmetry: true})
	if err != nil || m.States() != all.States {
		t.Errorf("%v: %d states; a search that takes nothing for the same sees %d", err, m.States(), all.States)
	}
}
