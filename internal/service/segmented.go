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

// SegmentKey returns the key of the lock of a segment, counted from 1, derived from the key of the whole stock's lock. In a Redis Cluster
// each such key has its own slot, which it shares with the other keys of the same lock.
func SegmentKey(key string, segment int) string { return key + ":" + strconv.Itoa(segment) }

// NewSegmentLocks returns new locks for segments 1 to segments.
func NewSegmentLocks(row strategy.Strategy, parts strategy.Parts, segments int) []lock.Locker {
	all := make([]lock.Locker, segments)
	for i := range all {
		segmentParts := parts
		segmentParts.Key = SegmentKey(parts.Key, i+1)
		all[i] = row.New(segmentParts)
	}
	return all
}

// sellFromSegments sells from the segment that the order's id selects, or from the next one that is not sold out. A stock only falls during
// a run, so a sold-out segment stays sold out: when every segment was sold out, ErrSoldOut is correct. No attempt begins after the wait
// timeout of one lock.
func (s *Sale) sellFromSegments(ctx context.Context, order history.Order) (Receipt, error) {
	start, first := s.Clock.Now(), firstSegment(order.ID, len(s.Segments))
	for i := range s.Segments {
		segmentStart := s.Clock.Now()
		if waited := segmentStart.Sub(start); i > 0 && waited >= s.Backoff.MaxDuration {
			return Receipt{}, fmt.Errorf("%w: %d of %d segments are sold out, and trying them took %v", lock.ErrTimeout, i, len(s.Segments), waited)
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

// firstSegment returns the 0-based index of the segment at which a sale begins. It is the same in every replica.
func firstSegment(id string, segments int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id)) // Writing to a hash never fails.
	return int(hash.Sum32() % uint32(segments))
}

// Close releases what the sale's locks keep between sales; see lock.Close.
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
