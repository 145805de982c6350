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

const (
	maxRequests      = 20_000
	maxBuyers        = 2_000
	maxBursts        = 20 // that are remembered
	answerTimeout    = 5 * time.Minute
	minAnsweredShare = 0.99
)

// peerHeader marks a question that one replica asks another.
const peerHeader = "X-Lockstep-Peer"

var (
	errRunning = lock.WithCode("burst_running", "a burst is going on; wait for its end, or DELETE it")
	errNoBurst = lock.WithCode("no_burst", "there is no such burst, or no more")
)

// Bursts sends bursts of buyers, one at a time: what lockstep burst does, for a page.
type Bursts struct {
	Targets     []string // base URLs of the shop
	Peers       []string // addresses of replicas that may have the burst that is asked for
	Token       string   // of the shop
	NewID       func() string
	CheckBuyers func(buyers int) error // fails if this process cannot be so many buyers

	mu      sync.Mutex
	bursts  []*burst // the latest last
	closed  bool
	running sync.WaitGroup
}

type burst struct {
	id       string
	requests int
	answered atomic.Int64
	cancel   context.CancelFunc

	done   chan struct{} // closed when what follows is there
	result *load.Result
	err    error
}

// BurstAnswer is what is told of a burst.
type BurstAnswer struct {
	ID       string       `json:"id"`
	Done     bool         `json:"done"`
	Requests int          `json:"requests"`
	Answered int64        `json:"answered"`
	Result   *load.Result `json:"result,omitempty"` // as lockstep burst --json
	Error    string       `json:"error,omitempty"`  // why there is none
}

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
	one, err := b.begin(load.Burst{
		Targets: b.Targets, Requests: want.N, Buyers: min(want.C, want.N), Stock: stock, Token: b.Token,
		Timeout: answerTimeout, MinAnswered: minAnsweredShare,
	})
	if err == nil {
		answer.Write(w, http.StatusAccepted, one.answer())
	}
	return err
}

// badBurst says what is wrong with the numbers of a burst, and what is allowed.
func badBurst(wrong error) error {
	right := fmt.Sprintf(`want {"n":200,"c":200}: n requests from 1 to %d, of c buyers from 1 to %d`, maxRequests, maxBuyers)
	return api.BadRequest(wrong, right)
}

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
	one := &burst{id: b.NewID(), requests: buyers.Requests, cancel: cancel, done: make(chan struct{})}
	buyers.Progress = func(int) { one.answered.Add(1) }
	if b.bursts = append(b.bursts, one); len(b.bursts) > maxBursts {
		b.bursts = slices.Clone(b.bursts[1:])
	}
	b.running.Go(func() {
		defer cancel()
		defer close(one.done)
		result, err := buyers.Run(ctx)
		if one.err = err; err == nil {
			one.result = &result
		}
	})
	return one, nil
}

// Close cancels the burst that is going on.
func (b *Bursts) Close() {
	b.mu.Lock()
	b.closed = true
	for _, one := range b.bursts {
		one.cancel()
	}
	b.mu.Unlock()
	b.running.Wait()
}

func (b *Bursts) get(w http.ResponseWriter, r *http.Request) error {
	return b.answerOne(w, r, func(*burst) {})
}

func (b *Bursts) cancel(w http.ResponseWriter, r *http.Request) error {
	return b.answerOne(w, r, func(one *burst) {
		one.cancel()
		<-one.done
	})
}

func (b *Bursts) answerOne(w http.ResponseWriter, r *http.Request, do func(*burst)) error {
	if one := b.find(r.PathValue("id")); one != nil {
		do(one)
		answer.Write(w, http.StatusOK, one.answer())
	} else if !b.forwardToPeer(w, r) {
		return errNoBurst
	}
	return nil
}

func (b *Bursts) find(id string) *burst {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.bursts {
		if one.id == id {
			return one
		}
	}
	return nil
}

// passOn asks the other replicas: behind nginx, a burst is one replica's, and whoever asks for it may come to any.
func (b *Bursts) forwardToPeer(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get(peerHeader) != "" {
		return false
	}
	client := load.NewClient(0, 0) // the token goes to no other server
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
			_, _ = io.Copy(w, response.Body) // the client went away
			return true
		}
	}
	return false
}

func (b *burst) answer() BurstAnswer {
	told := BurstAnswer{ID: b.id, Requests: b.requests, Answered: b.answered.Load()}
	select {
	case <-b.done:
		told.Done, told.Result = true, b.result
		if b.err != nil {
			told.Error = b.err.Error()
		}
	default:
	}
	return told
}
