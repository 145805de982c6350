package service

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// SegmentKey is the key of the lock of a segment, counted from 1, where the lock of the whole would have this key. It has a slot of its own
// in a Redis Cluster, with what else its lock keeps.
func SegmentKey(key string, segment int) string { return key + ":" + strconv.Itoa(segment) }

// SegmentLocks makes the locks of so many segments.
func SegmentLocks(row strategy.Strategy, parts strategy.Parts, segments int) []lock.Locker {
	all := make([]lock.Locker, segments)
	for i := range all {
		own := parts
		own.Key = SegmentKey(parts.Key, i+1)
		all[i] = row.New(own)
	}
	return all
}

// sellInTurn sells from the segment that the order's id chooses, and from the next one where that is sold out. A stock only falls while its
// run is on, so what was seen to be sold out stays so: after the last one all are, and ErrSoldOut is true. It waits no longer than one lock
// may take, but for the last wait.
func (s *Sale) sellFromSegments(ctx context.Context, order history.Order) (Receipt, error) {
	start, first := s.Clock.Now(), firstSegment(order.ID, len(s.Segments))
	for i := range s.Segments {
		segmentStart := s.Clock.Now()
		if waited := segmentStart.Sub(start); i > 0 && waited >= s.Backoff.MaxDuration {
			return Receipt{}, fmt.Errorf("%w: %d of %d segments are sold out, and looking took %v", lock.ErrTimeout, i, len(s.Segments), waited)
		}
		index := (first + i) % len(s.Segments)
		sale := *s
		sale.Locker, sale.segment = s.Segments[index], index+1
		order.Segment, order.SegmentCount = index+1, len(s.Segments)
		receipt, err := sale.sellUnderLock(ctx, order)
		if !errors.Is(err, ErrSoldOut) {
			receipt.Wait += segmentStart.Sub(start)
			return receipt, err
		}
	}
	return Receipt{}, ErrSoldOut
}

// firstSegment is where a sale begins, from 0 on: the same in every replica.
func firstSegment(id string, segments int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id)) // never fails
	return int(hash.Sum32() % uint32(segments))
}

// Close gives back what the sale's locks keep; see lock.Close.
func (s *Sale) Close(ctx context.Context) error {
	if len(s.Segments) == 0 {
		return lock.Close(ctx, s.Clock, s.Locker)
	}
	var errs []error
	for i, locker := range s.Segments {
		if err := lock.Close(ctx, s.Clock, locker); err != nil {
			errs = append(errs, fmt.Errorf("segment %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}
