package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/watch/witness"
)

// RedisEnds ends Redis: a real one by kill -9. The replicas behind a proxy are refused from then on, whichever it is.
func (s *Stage) RedisEnds() {
	if s.err != nil {
		return
	}
	s.note("", witness.KindRedisEnds)
	var errs []error
	for _, proxy := range s.proxies {
		errs = append(errs, proxy.End())
	}
	if s.redis.real != nil {
		errs = append(errs, s.redis.real.Kill())
	}
	s.err = errors.Join(errs...)
}

// RedisBegins starts it again, with what it had.
func (s *Stage) RedisBegins() {
	if s.redis.real != nil {
		s.insist("a Redis that begins again", func() error { return s.redis.real.Run(s.ctx) }) // its port may be somebody else's for a moment
	}
	for _, proxy := range s.proxies {
		s.insist("a proxy that begins again", proxy.Begin)
	}
	if s.err == nil {
		s.note("", witness.KindRedisBegins)
	}
}

// RedisHangs lets Redis execute nothing for some time: a real one by CLIENT PAUSE, the embedded one, which does not know that, behind
// the proxies.
func (s *Stage) RedisHangs(lasts time.Duration) {
	if s.err != nil {
		return
	}
	if s.redis.real == nil {
		for _, proxy := range s.proxies {
			proxy.Hang(lasts)
		}
	} else if err := pause(s.ctx, s.redis.Addr(), lasts); err != nil {
		s.err = fmt.Errorf("CLIENT PAUSE: %w", err)
		return
	}
	s.note("", witness.KindRedisHangs)
}

// pause lets a real Redis execute nothing for some time.
func pause(ctx context.Context, addr string, lasts time.Duration) error {
	redis, err := dao.Open(ctx, dao.Config{Addrs: []string{addr}})
	if err != nil {
		return err
	}
	return errors.Join(redis.Store.ClientPause(ctx, lasts).Err(), redis.Close())
}
