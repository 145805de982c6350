package classroom_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/docs"
	"lockstep/internal/learn/classroom"
)

func answerOf(who string, lesson, choice int) string {
	return fmt.Sprintf(`{"participant":%q,"lesson":%d,"choice":%d}`, who, lesson, choice)
}

func named(i int) string { return fmt.Sprintf("participant-%06d", i) }

// Fifty browsers predict at once, and each changes its mind: every last answer is counted once, and nothing is left running.
func TestAllAnswersAreCounted(t *testing.T) {
	const class = 50
	before := runtime.NumGoroutine()
	room := classroom.New(docs.Course())
	server := httptest.NewServer(room.Handler())
	send := func(method, path, body string) int {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		answer, err := server.Client().Do(request)
		if err != nil {
			t.Error(err)
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if status := send(http.MethodPost, "/room/answer", answerOf(named(0), 3, 1)); status != http.StatusNotFound {
		t.Errorf("an answer before the room is open: %d", status)
	}
	send(http.MethodPost, "/room", "")
	var all sync.WaitGroup
	for i := range class {
		all.Go(func() {
			for _, choice := range []int{3, i%2 + 1} {
				if status := send(http.MethodPost, "/room/answer", answerOf(named(i), 3, choice)); status != http.StatusOK {
					t.Errorf("participant %d: %d", i, status)
				}
			}
		})
	}
	all.Wait()
	var counts classroom.Counts
	ask(t, room.Handler(), http.MethodGet, "/room/03", "", &counts)
	if got, want := fmt.Sprint(counts), "{3 [25 25 0] 50}"; got != want {
		t.Errorf("counted: %s; want %s", got, want)
	}
	if status := send(http.MethodDelete, "/room", ""); status != http.StatusOK {
		t.Errorf("closing: %d", status)
	}
	if status := send(http.MethodGet, "/room/03", ""); status != http.StatusNotFound {
		t.Errorf("the counts of a closed room: %d", status)
	}
	server.Close()
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines; there were %d", runtime.NumGoroutine(), before)
		}
	}
}

func TestTheRoomTakesNoNonsense(t *testing.T) {
	handler := classroom.New(docs.Course()).Handler()
	ask(t, handler, http.MethodPost, "/room", "", nil)
	for body, want := range map[string]int{
		answerOf(named(1), 3, 1):  http.StatusOK,
		answerOf(named(1), 3, 0):  http.StatusBadRequest,
		answerOf(named(1), 3, 9):  http.StatusBadRequest,
		answerOf(named(1), 99, 1): http.StatusBadRequest,
		answerOf("Ann", 3, 1):     http.StatusBadRequest,
		`{"name":"Ann"}`:          http.StatusBadRequest,
		"":                        http.StatusBadRequest,
	} {
		if status := ask(t, handler, http.MethodPost, "/room/answer", body, nil); status != want {
			t.Errorf("%s: %d; want %d", body, status, want)
		}
	}
	for _, path := range []string{"/course/99", "/course/x", "/room/0"} {
		if status := ask(t, handler, http.MethodGet, path, "", nil); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// The room is bounded; who is in it may still change an answer.
func TestTheRoomFills(t *testing.T) {
	var room classroom.Room
	room.Open()
	defer room.Close()
	for i := range classroom.MostParticipants {
		if err := room.Answer(named(i), 1, 1); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := room.Answer(named(classroom.MostParticipants), 1, 1); !errors.Is(err, classroom.ErrFull) {
		t.Errorf("one more: %v", err)
	}
	if err := room.Answer(named(0), 1, 2); err != nil {
		t.Errorf("another answer of the first: %v", err)
	}
}

// A room that nobody closes is gone after its lifetime. That of an earlier room does not end the next.
func TestTheRoomEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var room classroom.Room
		room.Open()
		time.Sleep(classroom.Lifetime / 2)
		room.Close()
		room.Open()
		if err := room.Answer(named(1), 1, 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(classroom.Lifetime - time.Second)
		if state := room.Open(); !state.Open || state.Participants != 1 {
			t.Errorf("just before its end: %+v", state)
		}
		time.Sleep(2 * time.Second)
		if state := room.State(); state.Open || state.Participants != 0 {
			t.Errorf("after its end: %+v", state)
		}
	})
}
