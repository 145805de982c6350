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
	mostRequests = 20_000
	mostBuyers   = 2_000
	mostBursts   = 20 // that are remembered
	answerTime   = 5 * time.Minute
	minAnswered  = 0.99
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

	mu     sync.Mutex
	kept   []*burst // the latest last
	closed bool
	going  sync.WaitGroup
}

type burst struct {
	id       string
	requests int
	answered atomic.Int64
	cancel   context.CancelFunc

	over   chan struct{} // closed when what follows is there
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
	if want.N < 1 || want.N > mostRequests || want.C < 1 || want.C > mostBuyers || stock < 0 || stock > history.MaxStock {
		return badBurst(fmt.Errorf("n %d, c %d, stock %d are not allowed", want.N, want.C, stock))
	}
	if b.CheckBuyers != nil {
		if err := b.CheckBuyers(want.C); err != nil {
			return lock.WithCode("bad_request", err.Error())
		}
	}
	one, err := b.begin(load.Burst{
		Targets: b.Targets, Requests: want.N, Buyers: min(want.C, want.N), Stock: stock, Token: b.Token,
		Timeout: answerTime, MinAnswered: minAnswered,
	})
	if err == nil {
		answer.Write(w, http.StatusAccepted, one.answer())
	}
	return err
}

// badBurst says what is wrong with the numbers of a burst, and what is allowed.
func badBurst(wrong error) error {
	right := fmt.Sprintf(`want {"n":200,"c":200}: n requests from 1 to %d, of c buyers from 1 to %d`, mostRequests, mostBuyers)
	return api.BadRequest(wrong, right)
}

func (b *Bursts) begin(buyers load.Burst) (*burst, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errEnding
	}
	if n := len(b.kept); n > 0 && !b.kept[n-1].answer().Done {
		return nil, errRunning
	}
	ctx, cancel := context.WithCancel(context.Background())
	one := &burst{id: b.NewID(), requests: buyers.Requests, cancel: cancel, over: make(chan struct{})}
	buyers.Progress = func(int) { one.answered.Add(1) }
	if b.kept = append(b.kept, one); len(b.kept) > mostBursts {
		b.kept = slices.Clone(b.kept[1:])
	}
	b.going.Go(func() {
		defer cancel()
		defer close(one.over)
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
	for _, one := range b.kept {
		one.cancel()
	}
	b.mu.Unlock()
	b.going.Wait()
}

func (b *Bursts) get(w http.ResponseWriter, r *http.Request) error {
	return b.ofOne(w, r, func(*burst) {})
}

func (b *Bursts) end(w http.ResponseWriter, r *http.Request) error {
	return b.ofOne(w, r, func(one *burst) {
		one.cancel()
		<-one.over
	})
}

func (b *Bursts) ofOne(w http.ResponseWriter, r *http.Request, do func(*burst)) error {
	if one := b.find(r.PathValue("id")); one != nil {
		do(one)
		answer.Write(w, http.StatusOK, one.answer())
	} else if !b.passOn(w, r) {
		return errNoBurst
	}
	return nil
}

func (b *Bursts) find(id string) *burst {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.kept {
		if one.id == id {
			return one
		}
	}
	return nil
}

// passOn asks the other replicas: behind nginx, a burst is one replica's, and whoever asks for it may come to any.
func (b *Bursts) passOn(w http.ResponseWriter, r *http.Request) bool {
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
	case <-b.over:
		told.Done, told.Result = true, b.result
		if b.err != nil {
			told.Error = b.err.Error()
		}
	default:
	}
	return told
}
