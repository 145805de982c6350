package load_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lockstep/internal/load"
	"lockstep/internal/service/history"
	"lockstep/internal/test/suite"
)

// startStream starts a server that answers GET /live with events, and GET /live/pair with a drawing.
func startStream(t *testing.T, events ...string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/live", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("lang") != "zh" {
			t.Errorf("requested %s, want lang=zh", r.URL)
		}
		for _, event := range events {
			name, data, _ := strings.Cut(event, " ")
			fmt.Fprintf(w, "id: 1\nevent: %s\ndata: %s\n\n", name, data)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/live/pair", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("a") == "r1#9" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"actors":[%q,%q]}`, r.FormValue("a"), r.FormValue("b"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestWatchKeepsFramesOfLastRun(t *testing.T) {
	server := startStream(t,
		`run {"fresh":true,"run_id":"old"}`, `finding {"sales":["r1#1","r1#2"],"bad":true}`,
		`run {"fresh":true,"run_id":"new"}`, `lanes {"sales":[]}`, `tally {"run_id":"new","sold":0}`,
		`finding {"id":"a","sales":["r1#3","r2#1"],"bad":true}`, `finding {"id":"b","sales":["r1#4","r2#1"],"bad":false}`,
		`finding {"id":"c","sales":["r1#9","r2#1"],"bad":true}`, `finding {"id":"d","sales":["r1#4"],"bad":true}`,
		`story {"turns":[]}`, `story {"turns":[{"sales":["r1#5","r2#1"]},{"sales":["r1#4"]}]}`,
		`sections [{"sale":"r1#3"}]`, `broken {`, `stock [{"at":1,"stock":99,"sold":1},{"at":2,"stock":98,"sold":2}]`,
		`tally {"run_id":"new","sold":2,"in_flight":0}`)
	watch, err := load.StartWatch(t.Context(), server.URL, "zh")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	frames := watch.Frames(t.Context(), load.Result{Report: history.Report{RunID: "new", Sold: 2}})
	var names []string
	for _, frame := range frames {
		names = append(names, frame.Name)
	}
	if got := strings.Join(names, " "); got != "run"+strings.Repeat(" finding", 4)+" story sections stock tally" ||
		!strings.Contains(string(frames[8].Data), `"sold":2`) {
		t.Errorf("got frames %s, want those of the last run, with its last tally and story", got)
	}
	pairs := watch.Pairs(t.Context(), frames)
	if len(pairs) != 2 || string(pairs["r1#3 r2#1"]) != `{"actors":["r1#3","r2#1"]}` || pairs["r1#5 r2#1"] == nil {
		t.Errorf("got pairs %s, want two", pairs)
	}
}

func TestStartWatchReturnsErrUnwatched(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if _, err := load.StartWatch(t.Context(), server.URL, "en"); !errors.Is(err, load.ErrUnwatched) || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v, want ErrUnwatched with status 404", err)
	}
	if _, err := load.StartWatch(t.Context(), "http://"+suite.UnusedAddr(t), "en"); !errors.Is(err, load.ErrUnwatched) {
		t.Errorf("got %v, want ErrUnwatched", err)
	}
}
