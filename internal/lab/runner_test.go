package lab_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/api/route"
	"lockstep/internal/lab"
	"lockstep/internal/trace"
)

// endless runs labs that continue until their context ends.
type endless struct {
	lab.Runner

	running, ended int
}

func newEndless() *endless {
	e := &endless{}
	e.Environment = lab.TabEnvironment(func() lab.Replicas { return nil }, "")
	e.Run = func(ctx context.Context, _ lab.Lab, _ lab.RunOptions) (lab.Result, error) {
		e.running++
		<-ctx.Done()
		e.ended++
		return lab.Result{}, ctx.Err()
	}
	return e
}

// post requests a run of a lab. It returns a function that cancels the request, and the answer, which is complete once the test's
// goroutines wait.
func (e *endless) post(t *testing.T, path string) (leave func(), answer *httptest.ResponseRecorder) {
	ctx, leave := context.WithCancel(t.Context())
	answer = httptest.NewRecorder()
	go route.Mux(e.Routes()...).ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, path, http.NoBody))
	synctest.Wait()
	return leave, answer
}

// One lab runs at a time. A second one is refused, and the answer names the running lab and its reader. The run ends once its reader has
// left.
func TestSecondLabIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndless()
		leave, first := e.post(t, "/labs/holder-dies")
		for path, want := range map[string]string{
			"/labs/lost-update": "holder-dies is running, started ", "/labs/lost-update?lang=zh": "holder-dies 正在运行",
		} {
			_, second := e.post(t, path)
			time.Sleep(2 * time.Second) // virtual: longer than the reader of the first may take to leave
			synctest.Wait()
			if text := second.Body.String(); second.Code != http.StatusConflict || !strings.Contains(text, want) || e.running != 1 {
				t.Errorf("the second: %d %s; want that %s", second.Code, text, want)
			}
		}
		leave()
		synctest.Wait()
		if e.ended != 1 || !strings.HasPrefix(first.Body.String(), "event: begins\ndata: \"v1\"\n\nevent: failed") {
			t.Errorf("%d have ended, and the first was told %s", e.ended, first.Body)
		}
		leave, third := e.post(t, "/labs/lost-update")
		if third.Code != http.StatusOK || e.running != 2 {
			t.Errorf("the third: %d %s", third.Code, third.Body)
		}
		leave()
		synctest.Wait()
	})
}

// A reader who goes from one lab to the next is not refused, although the server hears of the new run first.
func TestLabWaitsForALeavingReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndless()
		leaveFirst, _ := e.post(t, "/labs/holder-dies")
		leaveSecond, second := e.post(t, "/labs/lost-update")
		if e.running != 1 {
			t.Errorf("%d labs run, want 1", e.running)
		}
		leaveFirst()
		synctest.Wait()
		if e.running != 2 || second.Code != http.StatusOK {
			t.Errorf("%d labs have run, and the second got %d %s, want 200", e.running, second.Code, second.Body)
		}
		leaveSecond()
		synctest.Wait()
	})
}

// A request that arrives while a run is ending waits for the end, and is not refused.
func TestLabWaitsForAnEndingRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, down := newEndless(), make(chan struct{})
		run := e.Run
		e.Run = func(ctx context.Context, l lab.Lab, p lab.RunOptions) (lab.Result, error) {
			result, err := run(ctx, l, p)
			<-down // the stage comes down
			return result, err
		}
		leave, _ := e.post(t, "/labs/holder-dies")
		leave()
		leave, second := e.post(t, "/labs/lost-update")
		if e.running != 1 || second.Body.Len() > 0 {
			t.Errorf("%d run, and the second was told %s", e.running, second.Body)
		}
		close(down)
		synctest.Wait()
		if e.running != 2 || second.Code != http.StatusOK {
			t.Errorf("%d ran, and the second was told %d %s", e.running, second.Code, second.Body)
		}
		leave()
		synctest.Wait()
	})
}

// A closed runner ends its run, says so, and begins no other.
func TestClosedRunnerEndsItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndless()
		_, first := e.post(t, "/labs/holder-dies?lang=zh")
		e.Close()
		synctest.Wait()
		if text := first.Body.String(); e.ended != 1 || !strings.HasSuffix(text, "event: failed\ndata: \"服务器正在退出\"\n\n") {
			t.Errorf("%d have ended, and the first was told %s", e.ended, text)
		}
		if _, second := e.post(t, "/labs/holder-dies"); second.Code != http.StatusServiceUnavailable || e.running != 1 {
			t.Errorf("then another is told %d %s", second.Code, second.Body)
		}
	})
}

// gone is an answer that nobody reads.
type gone struct{ http.ResponseWriter }

func (gone) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

// A run whose output nobody reads ends. Of many large drawings only some are sent.
func TestRunOutputIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndless()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/labs/holder-dies", http.NoBody)
		route.Mux(e.Routes()...).ServeHTTP(gone{httptest.NewRecorder()}, request)
		if e.ended != 1 {
			t.Errorf("%d have ended", e.ended)
		}
	})
	large := trace.Trace{Verdict: strings.Repeat("x", 1<<20)}
	r := lab.Runner{Environment: lab.TabEnvironment(func() lab.Replicas { return nil }, ""),
		Run: func(_ context.Context, _ lab.Lab, p lab.RunOptions) (lab.Result, error) {
			for range 10 {
				p.OnProgress(large)
			}
			return lab.Result{}, nil
		}}
	answer := httptest.NewRecorder()
	route.Mux(r.Routes()...).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/labs/holder-dies", http.NoBody))
	text := answer.Body.String()
	if len(text) > 3<<20 || !strings.Contains(text, "event: drawn") || strings.Count(text, "event: story") != 2 {
		t.Errorf("%d bytes are sent, with %d stories", len(text), strings.Count(text, "event: story"))
	}
}
