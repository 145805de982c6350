package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"lockstep/internal/fault"
	"lockstep/internal/language"
	"lockstep/internal/load"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/witness"
)

// The codes of what is no answer of a replica.
const (
	noAnswer = "no answer"
	noJSON   = "no JSON"
)

// Purchase is one request of a buyer.
type Purchase struct {
	replica string
	key     string // the Idempotency-Key; "": none
	sale    string // the sale's short name, if the purchases before it at that replica have asked for the lock by then
	leave   context.CancelFunc
	done    chan struct{}
	answer  Answer // once it is done
}

// Leave makes the buyer go away.
func (p *Purchase) Leave() { p.leave() }

// Buy lets a buyer ask a replica for a sale. It does not wait for the answer.
func (s *Stage) Buy(replica string) *Purchase { return s.BuyWithKey(replica, "") }

// BuyWithKey does the same for an order that has an Idempotency-Key.
func (s *Stage) BuyWithKey(replica, key string) *Purchase {
	ctx, leave := context.WithCancel(s.ctx)
	p := &Purchase{replica: replica, key: key, leave: leave, done: make(chan struct{})}
	s.bought[replica]++
	p.sale = fmt.Sprintf("%s#%d", replica, s.bought[replica])
	if s.err != nil {
		close(p.done)
		return p
	}
	s.purchases = append(s.purchases, p)
	s.running.Go(func() {
		defer close(p.done)
		defer leave()
		began := time.Now()
		answer, err := load.Buy(ctx, s.client, "http://"+s.addresses[replica], key)
		p.answer = answerOf(answer, err)
		p.answer.Sale, p.answer.Seconds = replica, time.Since(began).Seconds()
	})
	return p
}

// BuyUntil buys, and waits until something is so of the sale.
func (s *Stage) BuyUntil(replica string, step func(sale string) language.Text, so func(sale string) Condition) *Purchase {
	p := s.Buy(replica)
	s.Until(step(p.sale), so(p.sale))
	return p
}

// Hold buys, and waits until the sale has the lock.
func (s *Stage) Hold(replica string) *Purchase { return s.BuyUntil(replica, toObtain, obtained) }

// Work buys, and waits until the sale has read the stock.
func (s *Stage) Work(replica string) *Purchase {
	return s.BuyUntil(replica, toWork, func(sale string) Condition { return did(sale, witness.Reads, witness.Done) })
}

// Wait buys, and waits until the sale waits for the lock.
func (s *Stage) Wait(replica string) *Purchase { return s.BuyUntil(replica, toWait, s.waiting) }

// waiting reports whether a sale waits for the lock: it was refused, or, as it is not the first of its replica, waits in line there, and
// nothing of that is seen.
func (s *Stage) waiting(sale string) Condition {
	if s.isInLine(witness.ReplicaOf(sale)) {
		return requested(sale)
	}
	return refused(sale)
}

// isInLine reports whether the last sale of a replica waits in line there.
func (s *Stage) isInLine(replica string) bool { return s.inLine && s.bought[replica] > 1 }

// BuyCaught buys, and waits until a trap has caught a command of the sale, or the sale has ended.
func (s *Stage) BuyCaught(replica string, action fault.Action, matches func(args []string) bool) (*Purchase, Trap) {
	trap := s.Catch(replica, 0, action, matches)
	p := s.Buy(replica)
	s.UntilCaught(trap, ended(p.sale))
	return p, trap
}

// Finish waits for the answer to each of these purchases, and until the witness has seen their sales end.
func (s *Stage) Finish(purchases ...*Purchase) {
	s.Answered(purchases...)
	for _, p := range purchases {
		s.Until(toEnd(p.sale), ended(p.sale))
	}
}

// Answered waits for the answer to each of these purchases.
func (s *Stage) Answered(purchases ...*Purchase) {
	for _, p := range purchases {
		s.do(hearing(p.sale), func() error { return await(s.ctx, p.done) })
	}
}

// order asks a replica for an order.
func (s *Stage) order(replica, id string) Answer {
	return answerOf(load.Ask(s.ctx, s.client, http.MethodGet, "http://"+s.addresses[replica]+"/orders/"+id, ""))
}

// answerOf gives what a replica answers; without a status: nothing.
func answerOf(answer load.Answer, err error) Answer {
	switch {
	case err != nil && answer.Status == 0:
		return Answer{Code: noAnswer}
	case err != nil:
		return Answer{Status: answer.Status, Code: noJSON}
	default:
		return Answer{Status: answer.Status, Code: answer.Error.Code, Order: answer.Order()}
	}
}

// answers gives what the buyers were told so far.
func answers(purchases []*Purchase) (all []Answer) {
	for _, p := range purchases {
		select {
		case <-p.done:
			all = append(all, p.answer)
		default: // whoever still waits is gone with the stage
		}
	}
	return all
}

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
		s.retry(lookingUp(), func() error {
			kind := witness.KindOrderBooked
			switch answer := s.order(replica, p.answer.Order); {
			case answer.Code == lock.CodeOf(service.ErrNoOrder):
				kind = witness.KindOrderMissing
			case answer.Status != http.StatusOK:
				return errNotKnown // perhaps the replica has not yet heard that the sale is over
			}
			s.noteOrder(p, kind)
			return nil
		})
	}
}

// Recount asks the replica of a purchase how many orders the ledger has. If these are more than those of which a piece may have been sold
// by the answers, the sale was made again. Answers for one Idempotency-Key are for one order.
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
		if ledger.Sold > mayHaveSold(s.purchases) {
			s.noteOrder(p, witness.KindOrderDuplicated)
		}
		return nil
	})
}

// mayHaveSold counts the orders of which a piece may have been sold, by what their buyers were told so far.
func mayHaveSold(purchases []*Purchase) (n int64) {
	counted := map[string]bool{}
	for _, p := range purchases {
		for _, answer := range answers([]*Purchase{p}) {
			if !load.MayHaveSold(answer.Status, answer.Code) || p.key != "" && counted[p.key] {
				continue
			}
			counted[p.key] = true
			n++
		}
	}
	return n
}

// noteOrder notes what the ledger holds of a purchase, and what its buyer was told.
func (s *Stage) noteOrder(p *Purchase, kind witness.Kind) {
	now := time.Now()
	s.collected.Record(witness.Event{
		Replica: p.replica, Kind: kind, Owner: lock.Owner(p.answer.Order), Code: p.answer.Code, Sent: now, Replied: now,
	})
}
