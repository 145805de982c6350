//go:build !js

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"lockstep/internal/config"
	"lockstep/internal/evolution"
	"lockstep/internal/live"
	"lockstep/internal/load"
	"lockstep/internal/trace"
	"lockstep/internal/witness"
)

// The burst that is recorded: what the page's first button does.
const (
	recordedBuyers       = 200
	recordedStock        = 100
	maxRecordingAttempts = 20
	recordingTimeout     = time.Minute
)

// recordedBurst is a burst that was recorded, and what two of its buyers did, one of whose updates is lost.
type recordedBurst struct {
	live.PastBurst

	Pair trace.Trace `json:"pair"`
}

// errNoLostUpdate is returned if no update was lost in a burst.
var errNoLostUpdate = errors.New("no two buyers read the same stock")

// record runs bursts on a shop without a lock, with a Redis of its own, until one buyer overwrites the update of another. The page in a tab
// shows the recorded burst while its programs are loaded.
func record(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, recordingTimeout)
	defer cancel()
	cfg, err := config.FromMap(map[string]string{
		"server.addr": "127.0.0.1:0", "redis.embedded_addr": "127.0.0.1:0", "lock.version": "v0",
	}, evolution.Names())
	if err != nil {
		return nil, err
	}
	s, err := Open(ctx, cfg, Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	made, err := s.record(ctx)
	for tries := 1; errors.Is(err, errNoLostUpdate) && tries < maxRecordingAttempts; tries++ {
		made, err = s.record(ctx)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, fmt.Errorf("recording a burst: %w", err)
	}
	return json.Marshal(made)
}

// record runs and records one burst. It fails with errNoLostUpdate if the burst does not show a lost update clearly.
func (s *Server) record(ctx context.Context) (made recordedBurst, err error) {
	watch, err := load.StartWatch(ctx, s.URL(), "en")
	if err != nil {
		return made, err
	}
	defer watch.Close()
	var mu sync.Mutex
	buyers := load.Burst{
		Targets: []string{s.URL()}, Requests: recordedBuyers, Buyers: recordedBuyers, Stock: recordedStock, Timeout: recordingTimeout,
		MinAnswered: 1, Progress: func(int) {},
		OnAnswer: func(from, to time.Duration, sold bool) {
			mu.Lock()
			defer mu.Unlock()
			made.Course = append(made.Course, live.PurchaseTimes{From: from.Milliseconds(), To: to.Milliseconds(), Sold: sold})
		},
	}
	made.Began = time.Now()
	result, err := buyers.Run(ctx)
	if err != nil {
		return made, err
	}
	made.ID, made.Done, made.Requests, made.Answered = "recorded", true, result.Requests, int64(result.Requests)
	made.Result = &result
	for _, frame := range watch.Frames(ctx, result) {
		var finding struct {
			Kind  witness.FindingKind
			Sales []string
		}
		if frame.Name != "finding" || json.Unmarshal(frame.Data, &finding) != nil || finding.Kind != witness.LostUpdate {
			continue
		}
		if made.Pair, err = s.pair(ctx, finding.Sales); err != nil || bothReadFullStock(made.Pair) {
			return made, err
		}
	}
	return made, errNoLostUpdate
}

// pair asks the server for the steps of two sales.
func (s *Server) pair(ctx context.Context, sales []string) (drawn trace.Trace, err error) {
	query := url.Values{"a": sales[:1], "b": sales[1:], "lang": {"en"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/live/pair?"+query.Encode(), http.NoBody)
	if err != nil {
		return drawn, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return drawn, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", request.URL, text)
	}
	if err == nil {
		err = json.Unmarshal(text, &drawn)
	}
	return drawn, err
}

// bothReadFullStock reports whether two buyers first read the full stock, and then both write.
func bothReadFullStock(pair trace.Trace) bool {
	full := strconv.Itoa(recordedStock)
	var commands []trace.Step
	for _, step := range pair.Steps {
		if step.Command != "" {
			commands = append(commands, step)
		}
	}
	return len(commands) == 4 && commands[0].Token == "GET" && commands[1].Token == "GET" &&
		commands[0].Reply == full && commands[1].Reply == full
}
