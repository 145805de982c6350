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

// Codes for missing and invalid answers.
const (
	noAnswer = "no answer"
	noJSON   = "no JSON"
)

// Purchase is one request of a buyer.
type Purchase struct {
	replica string             // replica that gets the request
	key     string             // Idempotency-Key; empty: none
	sale    string             // short name of the sale, valid if the earlier purchases at the replica have asked for the lock
	leave   context.CancelFunc // cancels the request
	done    chan struct{}      // closed when the answer is known
	answer  Answer             // valid once done is closed
}

// Leave cancels the buyer's request.
func (p *Purchase) Leave() { p.leave() }

// Buy sends a buyer's request to a replica. It does not wait for the answer.
func (s *Stage) Buy(replica string) *Purchase { return s.BuyWithKey(replica, "") }

// BuyWithKey is Buy with an Idempotency-Key.
func (s *Stage) BuyWithKey(replica, key string) *Purchase {
	ctx, leave := context.WithCancel(s.ctx)
	p := &Purchase{replica: replica, key: key, leave: leave, done: make(chan struct{})}
	s.purchaseCount[replica]++
	p.sale = fmt.Sprintf("%s#%d", replica, s.purchaseCount[replica])
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
		p.answer = newAnswer(answer, err)
		p.answer.Sale, p.answer.Seconds = replica, time.Since(began).Seconds()
	})
	return p
}

// BuyUntil buys, and waits until the sale meets a condition. step names what is awaited, for errors.
func (s *Stage) BuyUntil(replica string, step func(sale string) language.Text, condition func(sale string) Condition) *Purchase {
	p := s.Buy(replica)
	s.Await(step(p.sale), condition(p.sale))
	return p
}

// Hold buys, and waits until the sale has the lock.
func (s *Stage) Hold(replica string) *Purchase { return s.BuyUntil(replica, toObtain, obtained) }

// Work buys, and waits until the sale has read the stock.
func (s *Stage) Work(replica string) *Purchase {
	return s.BuyUntil(replica, toWork, func(sale string) Condition { return sentCommand(sale, witness.Reads, witness.Done) })
}

// Wait buys, and waits until the sale waits for the lock.
func (s *Stage) Wait(replica string) *Purchase { return s.BuyUntil(replica, toWait, s.waiting) }

// waiting is met when a sale waits for the lock: Redis has refused the lock to the sale, or the sale is in its replica's local queue. The
// witness does not see that queue, so a sale that has to wait there counts as waiting once it has asked for the lock.
func (s *Stage) waiting(sale string) Condition {
	if s.isInLine(witness.ReplicaOf(sale)) {
		return requested(sale)
	}
	return refused(sale)
}

// isInLine reports whether the last sale of a replica waits in the local queue.
func (s *Stage) isInLine(replica string) bool { return s.hasQueue && s.purchaseCount[replica] > 1 }

// BuyCaught buys, and waits until a trap has caught a command of the sale, or the sale has ended.
func (s *Stage) BuyCaught(replica string, action fault.Action, matches func(args []string) bool) (*Purchase, Trap) {
	trap := s.Catch(replica, 0, action, matches)
	p := s.Buy(replica)
	s.AwaitCaught(trap, ended(p.sale))
	return p, trap
}

// Finish waits until each purchase has its answer and the witness has recorded the end of its sale.
func (s *Stage) Finish(purchases ...*Purchase) {
	s.AwaitAnswers(purchases...)
	for _, p := range purchases {
		s.Await(toEnd(p.sale), ended(p.sale))
	}
}

// AwaitAnswers waits for the answers to purchases.
func (s *Stage) AwaitAnswers(purchases ...*Purchase) {
	for _, p := range purchases {
		s.do(answerStep(p.sale), func() error { return await(s.ctx, p.done) })
	}
}

// order requests an order from a replica.
func (s *Stage) order(replica, id string) Answer {
	return newAnswer(load.Send(s.ctx, s.client, http.MethodGet, "http://"+s.addresses[replica]+"/orders/"+id, ""))
}

// newAnswer converts a replica's answer, or the error that came instead. Without an answer the status is 0.
func newAnswer(answer load.Answer, err error) Answer {
	switch {
	case err != nil && answer.Status == 0:
		return Answer{Code: noAnswer}
	case err != nil:
		return Answer{Status: answer.Status, Code: noJSON}
	default:
		return Answer{Status: answer.Status, Code: answer.Error.Code, Order: answer.Order()}
	}
}

// answers returns the answers that the buyers have received so far.
func answers(purchases []*Purchase) (all []Answer) {
	for _, p := range purchases {
		select {
		case <-p.done:
			all = append(all, p.answer)
		default: // The request of a buyer that still waits is canceled at the end of the stage.
		}
	}
	return all
}

// BuyUntilServed buys at a replica repeatedly, until the answer is neither lock.ErrUnavailable nor lock.ErrLost. It returns the last
// purchase when the witness has recorded the end of its sale.
func (s *Stage) BuyUntilServed(replica string) *Purchase {
	for {
		p := s.Buy(replica)
		s.AwaitAnswers(p)
		if s.err == nil && (p.answer.Code == lock.CodeOf(lock.ErrUnavailable) || p.answer.Code == lock.CodeOf(lock.ErrLost)) {
			continue
		}
		s.Await(toEnd(replica), func(events []witness.Event) bool {
			i := slices.IndexFunc(events, func(e witness.Event) bool {
				return e.Kind == witness.KindAsks && strings.HasSuffix(e.Owner, p.answer.Order)
			})
			return i >= 0 && ended(events[i].Sale)(events)
		})
		return p
	}
}

// LookUp requests the order of each buyer so far from a replica, and records whether the ledger has it.
func (s *Stage) LookUp(replica string) {
	for _, p := range s.purchases {
		if s.err != nil || p.answer.Order == "" {
			continue
		}
		s.retry(lookUpStep(), func() error {
			kind := witness.KindOrderBooked
			switch answer := s.order(replica, p.answer.Order); {
			case answer.Code == lock.CodeOf(service.ErrNoOrder):
				kind = witness.KindOrderMissing
			case answer.Status != http.StatusOK:
				return errNotKnown // The replica may not know yet that the sale has ended.
			}
			s.recordOrder(p, kind)
			return nil
		})
	}
}

// Recount compares the number of orders in the ledger with the number that the answers allow. If the ledger has more, Recount records that
// the order of p is in the ledger more than once. Answers for the same Idempotency-Key count as one order.
func (s *Stage) Recount(p *Purchase) {
	s.do(countStep(), func() error {
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
		if ledger.Sold > maxSold(s.purchases) {
			s.recordOrder(p, witness.KindOrderDuplicated)
		}
		return nil
	})
}

// maxSold returns the largest number of orders that can have been sold according to the answers so far.
func maxSold(purchases []*Purchase) (n int64) {
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

// recordOrder records an event about the order of a purchase in the ledger, with the code of the buyer's answer.
func (s *Stage) recordOrder(p *Purchase, kind witness.Kind) {
	now := time.Now()
	s.collector.Record(witness.Event{
		Replica: p.replica, Kind: kind, Owner: lock.Owner(p.answer.Order), Code: p.answer.Code, Sent: now, Replied: now,
	})
}
