package live

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/api/answer"
	"lockstep/internal/load"
	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// Bounds of bursts. A page needs no more, and more would slow down the shop for other buyers.
const (
	maxRequests      = 20_000          // requests of a burst
	maxBuyers        = 2_000           // buyers of a burst
	maxCourse        = 2_000           // requests of a burst whose times are recorded; a burst with more records none
	maxBursts        = 20              // bursts that are remembered
	maxPast          = 2               // bursts in the answer to GET /bursts
	maxPastBytes     = 1 << 20         // largest answer to GET /bursts that is read from a peer
	answerTimeout    = 5 * time.Minute // time limit for an answer to a buyer
	minAnsweredShare = 0.99            // share of the requests that must be answered for a PASS
)

// peerHeader marks a request that one replica forwards to another.
const peerHeader = "X-Lockstep-Peer"

// The errors of bursts: another one is running, or the id is unknown.
var (
	errRunning = lock.WithCode("burst_running", "a burst is running; wait for its end, or DELETE it")
	errNoBurst = lock.WithCode("no_burst", "there is no such burst, or it has been forgotten")
)

// Bursts sends bursts of buyers for a page, one at a time, as the command lockstep burst does.
type Bursts struct {
	Targets     []string               // base URLs of the shop
	Peers       []string               // addresses of other replicas, which may have the requested burst
	Token       string                 // administrator token of the shop; empty: none
	NewID       func() string          // creates the id of a burst
	CheckBuyers func(buyers int) error // fails if this process cannot open enough connections; nil: no check

	mu      sync.Mutex     // guards bursts and closed
	bursts  []*burst       // remembered bursts, oldest first
	closed  bool           // Close was called: no burst can begin
	running sync.WaitGroup // goroutine of the running burst
}

// burst is one burst, running or done.
type burst struct {
	id       string             // id in the paths of requests
	requests int                // total number of requests
	answered atomic.Int64       // number of answers so far
	cancel   context.CancelFunc // cancels the burst
	began    time.Time          // start of the burst

	courseMu sync.Mutex      // guards course until done is closed
	course   []PurchaseTimes // times of the answered requests; nil: not recorded

	done   chan struct{} // closed when result or err is set
	result *load.Result  // nil: not done, or failed
	err    error         // reason why there is no result
}

// BurstAnswer is a burst in JSON.
type BurstAnswer struct {
	ID       string       `json:"id"`
	Done     bool         `json:"done"`
	Requests int          `json:"requests"`         // total number of requests
	Answered int64        `json:"answered"`         // number of answers so far
	Result   *load.Result `json:"result,omitempty"` // output of lockstep burst --json; absent until the burst is done
	Error    string       `json:"error,omitempty"`  // reason why there is no result
}

// PurchaseTimes has the times of one request of a burst, in milliseconds since the start of the burst.
type PurchaseTimes struct {
	From int64 `json:"from"` // time of the request
	To   int64 `json:"to"`   // time of the answer
	Sold bool  `json:"sold"` // the buyer bought a piece
}

// PastBurst is a burst that has ended, with the times of its requests, so that a page can show it again.
type PastBurst struct {
	BurstAnswer

	Began  time.Time       `json:"began"`
	Course []PurchaseTimes `json:"course"` // nil: the burst had more than maxCourse requests
}

// post handles POST /bursts: it starts a burst, and answers with its state.
func (b *Bursts) post(w http.ResponseWriter, r *http.Request) error {
	var want struct {
		N     int    `json:"n"`
		C     int    `json:"c"`
		Stock *int64 `json:"stock"`
	}
	if err := api.Read(r, &want); err != nil {
		return badBurst(err)
	}
	stock := int64(want.N)
	if want.Stock != nil {
		stock = *want.Stock
	}
	if want.N < 1 || want.N > maxRequests || want.C < 1 || want.C > maxBuyers || stock < 0 || stock > history.MaxStock {
		return badBurst(fmt.Errorf("n %d, c %d, stock %d are not allowed", want.N, want.C, stock))
	}
	if b.CheckBuyers != nil {
		if err := b.CheckBuyers(want.C); err != nil {
			return lock.WithCode("bad_request", err.Error())
		}
	}
	started, err := b.begin(load.Burst{
		Targets: b.Targets, Requests: want.N, Buyers: min(want.C, want.N), Stock: stock, Token: b.Token,
		Timeout: answerTimeout, MinAnswered: minAnsweredShare,
	})
	if err == nil {
		answer.Write(w, http.StatusAccepted, started.answer())
	}
	return err
}

// badBurst returns the error for wrong numbers of a burst. It names the allowed numbers.
func badBurst(err error) error {
	allowed := fmt.Sprintf(`want {"n":200,"c":200}: n requests from 1 to %d, of c buyers from 1 to %d`, maxRequests, maxBuyers)
	return api.BadRequest(err, allowed)
}

// begin starts a burst, unless one is running.
func (b *Bursts) begin(buyers load.Burst) (*burst, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errShuttingDown
	}
	if n := len(b.bursts); n > 0 && !b.bursts[n-1].answer().Done {
		return nil, errRunning
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := &burst{id: b.NewID(), requests: buyers.Requests, cancel: cancel, began: time.Now(), done: make(chan struct{})}
	buyers.Progress = func(int) { started.answered.Add(1) }
	if started.requests <= maxCourse {
		buyers.OnAnswer = started.recordPurchase
	}
	if b.bursts = append(b.bursts, started); len(b.bursts) > maxBursts {
		b.bursts = slices.Clone(b.bursts[1:])
	}
	b.running.Go(func() {
		defer cancel()
		defer close(started.done)
		result, err := buyers.Run(ctx)
		if started.err = err; err == nil {
			started.result = &result
		}
	})
	return started, nil
}

// Close cancels the running burst, and waits for its end.
func (b *Bursts) Close() {
	b.mu.Lock()
	b.closed = true
	for _, remembered := range b.bursts {
		remembered.cancel()
	}
	b.mu.Unlock()
	b.running.Wait()
}

// get handles GET /bursts/{id}.
func (b *Bursts) get(w http.ResponseWriter, r *http.Request) error {
	return b.answerOne(w, r, func(*burst) {})
}

// cancel handles DELETE /bursts/{id}: it cancels a burst, and waits for its end.
func (b *Bursts) cancel(w http.ResponseWriter, r *http.Request) error {
	return b.answerOne(w, r, func(requested *burst) {
		requested.cancel()
		<-requested.done
	})
}

// answerOne calls do with the requested burst, and answers with the burst's state. If this replica does not have the burst, it asks the
// peers.
func (b *Bursts) answerOne(w http.ResponseWriter, r *http.Request, do func(*burst)) error {
	if requested := b.find(r.PathValue("id")); requested != nil {
		do(requested)
		answer.Write(w, http.StatusOK, requested.answer())
	} else if !b.forwardToPeer(w, r) {
		return errNoBurst
	}
	return nil
}

// find returns the burst of an id; nil if it is not remembered.
func (b *Bursts) find(id string) *burst {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, candidate := range b.bursts {
		if candidate.id == id {
			return candidate
		}
	}
	return nil
}

// list handles GET /bursts: it answers with the latest bursts of all replicas that have ended with a result, oldest first.
func (b *Bursts) list(w http.ResponseWriter, r *http.Request) error {
	all := b.past()
	b.askPeers(r, "/bursts", func(response *http.Response) bool {
		var others []PastBurst
		if json.NewDecoder(io.LimitReader(response.Body, maxPastBytes)).Decode(&others) == nil {
			all = append(all, others...)
		}
		return false
	})
	slices.SortFunc(all, func(x, y PastBurst) int { return x.Began.Compare(y.Began) })
	answer.Write(w, http.StatusOK, all[max(0, len(all)-maxPast):])
	return nil
}

// past returns the latest bursts of this replica that have ended with a result, newest first.
func (b *Bursts) past() []PastBurst {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := []PastBurst{} // in JSON: [], not null
	for _, candidate := range slices.Backward(b.bursts) {
		if answer := candidate.answer(); answer.Result != nil && len(all) < maxPast {
			all = append(all, PastBurst{answer, candidate.began, candidate.course}) // the course no longer changes
		}
	}
	return all
}

// forwardToPeer forwards the request to the other replicas, and reports whether one of them had the burst. Behind nginx, a request may
// reach any replica, but only one has the burst.
func (b *Bursts) forwardToPeer(w http.ResponseWriter, r *http.Request) bool {
	return b.askPeers(r, "/bursts/"+r.PathValue("id"), func(response *http.Response) bool {
		w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
		_, _ = io.Copy(w, response.Body) // the client went away
		return true
	})
}

// askPeers forwards a request to the other replicas, one after the other, until take returns true for an answer. It reports whether take
// did so. A request that came from a peer is not forwarded.
func (b *Bursts) askPeers(r *http.Request, path string, take func(*http.Response) bool) bool {
	if r.Header.Get(peerHeader) != "" {
		return false
	}
	client := load.NewClient(0, 0) // The client follows no redirects, so that the token goes to no other server.
	defer client.CloseIdleConnections()
	for _, peer := range b.Peers {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+peer+path, http.NoBody)
		if err != nil {
			continue
		}
		request.Header.Set(peerHeader, "1")
		request.Header.Set("Authorization", r.Header.Get("Authorization"))
		response, err := client.Do(request)
		if err != nil {
			continue
		}
		taken := response.StatusCode == http.StatusOK && take(response)
		_ = response.Body.Close()
		if taken {
			return true
		}
	}
	return false
}

// recordPurchase records the times of one request.
func (b *burst) recordPurchase(from, to time.Duration, sold bool) {
	b.courseMu.Lock()
	defer b.courseMu.Unlock()
	b.course = append(b.course, PurchaseTimes{from.Milliseconds(), to.Milliseconds(), sold})
}

// answer returns the current state of the burst.
func (b *burst) answer() BurstAnswer {
	answer := BurstAnswer{ID: b.id, Requests: b.requests, Answered: b.answered.Load()}
	select {
	case <-b.done:
		answer.Done, answer.Result = true, b.result
		if b.err != nil {
			answer.Error = b.err.Error()
		}
	default:
	}
	return answer
}
