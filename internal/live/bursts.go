package live

import (
	"context"
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

// Bounds of a burst. A page needs no more, and more would keep the shop from its buyers.
const (
	maxRequests      = 20_000
	maxBuyers        = 2_000
	maxBursts        = 20 // bursts that are remembered
	answerTimeout    = 5 * time.Minute
	minAnsweredShare = 0.99
)

// peerHeader marks a request that one replica forwards to another.
const peerHeader = "X-Lockstep-Peer"

// The errors of bursts: another one is running, or the id is unknown.
var (
	errRunning = lock.WithCode("burst_running", "a burst is going on; wait for its end, or DELETE it")
	errNoBurst = lock.WithCode("no_burst", "there is no such burst, or no more")
)

// Bursts sends bursts of buyers, one at a time: what the command lockstep burst does, for a page.
type Bursts struct {
	Targets     []string // base URLs of the shop
	Peers       []string // addresses of other replicas, which may have the requested burst
	Token       string   // administrator token of the shop
	NewID       func() string
	CheckBuyers func(buyers int) error // nil, or fails if this process cannot open enough connections

	mu      sync.Mutex
	bursts  []*burst // remembered bursts, oldest first
	closed  bool
	running sync.WaitGroup
}

// burst is one burst, running or done.
type burst struct {
	id       string
	requests int
	answered atomic.Int64
	cancel   context.CancelFunc

	done   chan struct{} // closed when result or err is set
	result *load.Result
	err    error
}

// BurstAnswer is the JSON about a burst.
type BurstAnswer struct {
	ID       string       `json:"id"`
	Done     bool         `json:"done"`
	Requests int          `json:"requests"`
	Answered int64        `json:"answered"`
	Result   *load.Result `json:"result,omitempty"` // output of lockstep burst --json; absent until the burst is done
	Error    string       `json:"error,omitempty"`  // reason why there is no result
}

// post handles POST /bursts: it begins a burst.
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

// badBurst returns the error for wrong numbers of a burst, with the allowed ones.
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
	started := &burst{id: b.NewID(), requests: buyers.Requests, cancel: cancel, done: make(chan struct{})}
	buyers.Progress = func(int) { started.answered.Add(1) }
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

// answerOne calls do with the requested burst and answers its state, or forwards the request.
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

// forwardToPeer asks the other replicas: behind nginx, a burst belongs to one replica, and a request for it may reach any. It reports
// whether a peer answered.
func (b *Bursts) forwardToPeer(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get(peerHeader) != "" {
		return false
	}
	client := load.NewClient(0, 0) // no connection is kept, so that the token goes to no other server
	defer client.CloseIdleConnections()
	for _, peer := range b.Peers {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+peer+"/bursts/"+r.PathValue("id"), http.NoBody)
		if err != nil {
			continue
		}
		request.Header.Set(peerHeader, "1")
		request.Header.Set("Authorization", r.Header.Get("Authorization"))
		response, err := client.Do(request)
		if err != nil {
			continue
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusOK {
			w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
			_, _ = io.Copy(w, response.Body) // The client may have gone.
			return true
		}
	}
	return false
}

// answer returns the present state.
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
