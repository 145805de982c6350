package lab

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/load"
	"lockstep/internal/watch/witness"
)

// askAgain is the pause between two questions to somebody who does not know yet.
const askAgain = 20 * time.Millisecond

var errNotKnown = errors.New("nobody knows yet")

// Served lets buyers ask a replica for a sale, one after the other, until one is neither told that Redis is gone nor
// that its lock expired before it heard that it had it. It gives the last of them, once the witness has seen the sale end.
func (s *Stage) Served(replica string) *Purchase {
	for {
		p := s.Buy(replica)
		s.Answered(p)
		if s.err == nil && (p.answer.Code == lock.CodeOf(lock.ErrUnavailable) || p.answer.Code == lock.CodeOf(lock.ErrLost)) {
			continue
		}
		s.Until("the end of a sale at "+replica, func(events []witness.Event) bool {
			sale := saleOf(events, p.answer.Order)
			return sale != "" && ended(sale)(events)
		})
		return p
	}
}

// saleOf gives the short name of the sale with that order; "" if it has not asked for the lock.
func saleOf(events []witness.Event, order string) string {
	for _, e := range events {
		if e.Kind == witness.KindAsks && strings.HasSuffix(e.Owner, order) {
			return e.Sale
		}
	}
	return ""
}

// LookUp asks a replica for the order of each buyer so far, and notes what the ledger holds.
func (s *Stage) LookUp(replica string) {
	for _, p := range s.purchases {
		if s.err != nil || p.answer.Order == "" {
			continue
		}
		s.insist("what became of an order", func() error {
			answer := s.send(s.ctx, http.MethodGet, replica, "/orders/"+p.answer.Order)
			now := time.Now()
			event := witness.Event{
				Replica: p.replica, Kind: witness.KindBooked, Owner: lock.Owner(p.answer.Order), Code: p.answer.Code, Sent: now, Replied: now,
			}
			switch {
			case answer.Code == lock.CodeOf(service.ErrNoOrder):
				event.Kind = witness.KindUnbooked
			case answer.Status != http.StatusOK:
				return errNotKnown // perhaps the replica has not yet heard that the sale is over
			}
			s.collected.Record(event)
			return nil
		})
	}
}

// Recount asks the replica of a purchase how many orders the ledger has. If these are more than the buyers to whom a piece may have
// been sold, the sale was made again.
func (s *Stage) Recount(p *Purchase) {
	s.do("how many were sold", func() error {
		var ledger history.Report
		request, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "http://"+s.addresses[p.replica]+"/inventory", http.NoBody)
		if err != nil {
			return err
		}
		response, err := s.client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if err := json.NewDecoder(response.Body).Decode(&ledger); err != nil {
			return err
		}
		most := int64(0)
		for _, answer := range s.answers() {
			if load.MayHaveSold(answer.Status, answer.Code) {
				most++
			}
		}
		if now := time.Now(); ledger.Sold > most {
			s.collected.Record(witness.Event{
				Replica: p.replica, Kind: witness.KindResold, Owner: lock.Owner(p.answer.Order), Sent: now, Replied: now,
			})
		}
		return nil
	})
}

// insist does something again and again until it succeeds.
func (s *Stage) insist(what string, do func() error) {
	for s.err == nil && do() != nil {
		select {
		case <-time.After(askAgain):
		case <-s.ctx.Done():
			s.err = errors.Join(errors.New(what), context.Cause(s.ctx))
		}
	}
}
