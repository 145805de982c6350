package api

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

func explode(reason any) { panic(reason) }

func TestPanicsAreAnsweredAndLogged(t *testing.T) {
	var logged bytes.Buffer // read only after the server has closed
	log := slog.New(slog.NewTextHandler(&logged, nil))
	next := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/begun":
			_, _ = io.WriteString(w, strings.Repeat("half of it ", 1000))
			explode("after its beginning")
		case "/abort":
			explode(http.ErrAbortHandler)
		}
		explode("before an answer")
	}
	server := httptest.NewUnstartedServer(&Entrance{Log: log, Replica: "r1", Next: http.HandlerFunc(next)})
	server.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	server.Start()
	client := server.Client()

	response, err := client.Get(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	var answer ErrorAnswer
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Error(err)
	}
	response.Body.Close()
	if response.StatusCode != 500 || answer.Error.Code != "internal" || response.Header.Get("X-Lockstep-Replica") != "r1" {
		t.Errorf("%s %+v by %q; want 500 internal by r1", response.Status, answer, response.Header.Get("X-Lockstep-Replica"))
	}
	for _, path := range []string{"/begun", "/abort"} {
		response, err := client.Get(server.URL + path)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			response.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: the client takes its answer for a whole one", path)
		}
	}
	server.Close()

	lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("logged %d lines; want one for each of two bugs: %s", len(lines), &logged)
	}
	for i, reason := range []string{"before an answer", "after its beginning"} {
		if !strings.Contains(lines[i], reason) || !strings.Contains(lines[i], "api.explode") || !strings.Contains(lines[i], "GET /") {
			t.Errorf("the log says neither what nor where: %s", lines[i])
		}
	}
}

func TestShutWaitsForRequestsAndRefusesNewOnes(t *testing.T) {
	inside, goOn := make(chan struct{}), make(chan struct{})
	entrance := &Entrance{Log: slog.New(slog.DiscardHandler), Next: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside <- struct{}{}
		<-goOn
	})}
	server := httptest.NewServer(entrance)
	defer server.Close()
	result := make(chan error, 1)
	go func() {
		response, err := server.Client().Get(server.URL)
		if err == nil {
			err = response.Body.Close()
		}
		result <- err
	}()
	<-inside
	if entrance.ShutIfQuiet(0) {
		t.Error("Shut returns true while a request is served")
	}
	close(goOn)
	if err := <-result; err != nil {
		t.Error(err)
	}
	if entrance.ShutIfQuiet(time.Hour) {
		t.Error("Shut returns true before the quiet time has passed")
	}
	for !entrance.ShutIfQuiet(0) { // the handler returns a moment after the answer
		runtime.Gosched()
	}
	response, err := server.Client().Get(server.URL)
	if err == nil {
		response.Body.Close()
		t.Error("a request is answered after Shut")
	}
}

// Every answer has the common headers. A request that is not admitted, or is too long, is refused before its body is read.
func TestEveryAnswerHasCommonHeaders(t *testing.T) {
	entrance := &Entrance{
		Log: slog.New(slog.DiscardHandler), Next: http.NotFoundHandler(),
		Admit: func(_ http.Header, r *http.Request) error {
			if r.URL.Path == "/full" {
				return errTooManyStreams
			}
			return nil
		},
	}
	for path, status := range map[string]int{"/": 404, "/full": 503, "/long": 400} {
		t.Run(path, func(t *testing.T) {
			body := ""
			if path == "/long" {
				body = strings.Repeat("a", maxBody+1)
			}
			answer := httptest.NewRecorder()
			entrance.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(body)))
			if answer.Code != status || answer.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("got %d %v; want %d, and nosniff", answer.Code, answer.Header(), status)
			}
		})
	}
}
