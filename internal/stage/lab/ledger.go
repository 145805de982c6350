package lab

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/load"
	"lockstep/internal/watch/witness"
)

// Served lets buyers ask a replica for a sale, one after the other, until one is neither told that Redis is gone nor
// that its lock expired before it heard that it had it. It gives the last of them, once the witness has seen the sale end.
func (s *Stage) Served(replica string) *Purchase {
	for {
		p := s.Buy(replica)
		s.Answered(p)
		if s.err == nil && (p.answer.Code == lock.CodeOf(lock.ErrUnavailable) || p.answer.Code == lock.CodeOf(lock.ErrLost)) {
			continue
		}
		s.Until(toEnd(replica), func(events []witness.Event) bool {
			i := slices.IndexFunc(events, func(e witness.Event) bool {
				return e.Kind == witness.KindAsks && strings.HasSuffix(e.Owner, p.answer.Order)
			})
			return i >= 0 && ended(events[i].Sale)(events)
		})
		return p
	}
}

// LookUp asks a replica for the order of each buyer so far, and notes what the ledger holds.
func (s *Stage) LookUp(replica string) {
	for _, p := range s.purchases {
		if s.err != nil || p.answer.Order == "" {
			continue
		}
		s.insist(lookingUp(), func() error {
			kind := witness.KindBooked
			switch answer := s.send(s.ctx, http.MethodGet, replica, "/orders/"+p.answer.Order); {
			case answer.Code == lock.CodeOf(service.ErrNoOrder):
				kind = witness.KindUnbooked
			case answer.Status != http.StatusOK:
				return errNotKnown // perhaps the replica has not yet heard that the sale is over
			}
			s.noteOrder(p, kind)
			return nil
		})
	}
}

// Recount asks the replica of a purchase how many orders the ledger has. If these are more than the buyers to whom a piece may have
// been sold, the sale was made again.
func (s *Stage) Recount(p *Purchase) {
	s.do(counting(), func() error {
		request, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "http://"+s.addresses[p.replica]+"/inventory", http.NoBody)
		if err != nil {
			return err
		}
		response, err := s.client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		var ledger history.Report
		if err := json.NewDecoder(response.Body).Decode(&ledger); err != nil {
			return err
		}
		for _, answer := range s.answers() {
			if load.MayHaveSold(answer.Status, answer.Code) {
				ledger.Sold--
			}
		}
		if ledger.Sold > 0 {
			s.noteOrder(p, witness.KindResold)
		}
		return nil
	})
}

// noteOrder notes what the ledger holds of a purchase, and what its buyer was told.
func (s *Stage) noteOrder(p *Purchase, kind witness.Kind) {
	now := time.Now()
	s.collected.Record(witness.Event{
		Replica: p.replica, Kind: kind, Owner: lock.Owner(p.answer.Order), Code: p.answer.Code, Sent: now, Replied: now,
	})
}
