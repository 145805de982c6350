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
	"lockstep/internal/api/route"
	"lockstep/internal/classroom"
)

// answerOf returns the body of a POST /room/answer.
func answerOf(who string, lesson, choice int) string {
	return fmt.Sprintf(`{"participant":%q,"lesson":%d,"choice":%d}`, who, lesson, choice)
}

// newSession returns an open session whose participants have numbers.
func newSession() *classroom.Session {
	n := 0
	session := &classroom.Session{NewID: func() string { n++; return fmt.Sprintf("participant-%06d", n) }, Now: time.Now}
	session.Open()
	return session
}

// addParticipant adds a participant from an address, and returns its ID.
func addParticipant(t *testing.T, session *classroom.Session, address string) string {
	t.Helper()
	joined, err := session.Join(address)
	if err != nil {
		t.Error(err)
	}
	return joined.Participant
}

// join adds a participant through the handler.
func join(t *testing.T, handler http.Handler) (joined classroom.JoinReply) {
	t.Helper()
	ask(t, handler, http.MethodPost, "/room/join", "", &joined)
	return joined
}

// Fifty browsers answer at once, and each changes its answer. Each last answer is counted once, and no goroutine is left.
func TestLastAnswerOfEachParticipantCountsOnce(t *testing.T) {
	const class = 50
	before := runtime.NumGoroutine()
	room := classroom.New(docs.Course())
	server := httptest.NewServer(route.Mux(room.Routes()...))
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
	for _, path := range []string{"/room/join", "/room/answer"} {
		if status := send(http.MethodPost, path, answerOf("somebody", 3, 1)); status != http.StatusNotFound {
			t.Errorf("%s before the room is open: %d", path, status)
		}
	}
	send(http.MethodPost, "/room", "")
	var all sync.WaitGroup
	for i := range class {
		all.Go(func() {
			who := join(t, route.Mux(room.Routes()...)).Participant
			for _, choice := range []int{3, i%2 + 1} {
				if status := send(http.MethodPost, "/room/answer", answerOf(who, 3, choice)); status != http.StatusOK {
					t.Errorf("participant %d: %d", i, status)
				}
			}
		})
	}
	all.Wait()
	var counts classroom.AnswerCounts
	ask(t, route.Mux(room.Routes()...), http.MethodGet, "/room/03", "", &counts)
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

func TestInvalidRequestsAreRefused(t *testing.T) {
	handler := route.Mux(classroom.New(docs.Course()).Routes()...)
	ask(t, handler, http.MethodPost, "/room", "", nil)
	who := join(t, handler).Participant
	for body, want := range map[string]int{
		answerOf(who, 3, 1):   http.StatusOK,
		answerOf(who, 3, 0):   http.StatusBadRequest,
		answerOf(who, 3, 9):   http.StatusBadRequest,
		answerOf(who, 99, 1):  http.StatusBadRequest,
		answerOf("Ann", 3, 1): http.StatusNotFound,
		`{"name":"Ann"}`:      http.StatusBadRequest,
		"":                    http.StatusBadRequest,
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

// The session is at the lesson that the teacher has set; a lesson that does not exist is refused.
func TestStateReturnsLessonSetByTeacher(t *testing.T) {
	handler := route.Mux(classroom.New(docs.Course()).Routes()...)
	const third = `{"at":"3","revealed":true}`
	if status := ask(t, handler, http.MethodPut, "/room", third, nil); status != http.StatusNotFound {
		t.Errorf("without a room: %d", status)
	}
	var room classroom.State
	if ask(t, handler, http.MethodPost, "/room", "", &room); room.Lesson != "" {
		t.Errorf("it begins at %q", room.Lesson)
	}
	for body, want := range map[string]int{
		`{"at":"99"}`: http.StatusBadRequest, `{"at":"//example.com"}`: http.StatusBadRequest, `{"at":""}`: http.StatusBadRequest,
		`{"on":"03"}`: http.StatusBadRequest, `{"at":"14"}`: http.StatusOK,
	} {
		if status := ask(t, handler, http.MethodPut, "/room", body, nil); status != want {
			t.Errorf("%s: %d; want %d", body, status, want)
		}
	}
	if ask(t, handler, http.MethodGet, "/room", "", &room); room.Lesson != "14" || room.Revealed {
		t.Errorf("at lesson 14: %+v", room)
	}
	ask(t, handler, http.MethodPut, "/room", third, nil)
	if ask(t, handler, http.MethodGet, "/room", "", &room); room.Lesson != "03" || !room.Revealed {
		t.Errorf("at lesson 3: %+v", room)
	}
	if status := ask(t, handler, http.MethodGet, "/join", "", nil); status != http.StatusFound {
		t.Errorf("/join: %d", status)
	}
	if status := ask(t, handler, http.MethodGet, "/room/join?from=javascript:alert(1)", "", nil); status != http.StatusBadRequest {
		t.Errorf("an origin that is none: %d", status)
	}
}

// A session that nobody closes ends after its lifetime. The lifetime of an earlier session does not end the next one.
func TestSessionClosesAfterLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := newSession()
		time.Sleep(classroom.Lifetime / 2)
		session.Close()
		session.Open()
		who := addParticipant(t, session, "10.0.0.1")
		time.Sleep(classroom.Lifetime - time.Second)
		session.Open()
		if state, err := session.State(who); err != nil || state.Participants != 1 {
			t.Errorf("just before its end: %+v, %v", state, err)
		}
		time.Sleep(2 * time.Second)
		if state, err := session.State(""); err != nil || state.Open || state.Participants != 0 {
			t.Errorf("after its end: %+v, %v", state, err)
		}
	})
}

// A silent participant, such as a closed browser or a sleeping phone, is not waited for. One that returns counts again, and answers are
// kept.
func TestSilentParticipantsAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := newSession()
		answers := addParticipant(t, session, "10.0.0.1")
		closes := addParticipant(t, session, "10.0.0.2")
		stays := addParticipant(t, session, "10.0.0.3")
		asks := func(who string) {
			t.Helper()
			if _, err := session.State(who); err != nil {
				t.Error(err)
			}
		}
		counted := func(when, want string) {
			t.Helper()
			counts, err := session.Counts(3, 2)
			if err != nil {
				t.Error(err)
			}
			state, err := session.State("")
			if got := fmt.Sprint(counts.Counts, counts.Participants, state.Participants); got != want || err != nil {
				t.Errorf("%s: %s, %v; want %s", when, got, err, want)
			}
		}
		if err := session.Answer(answers, 3, 1); err != nil {
			t.Error(err)
		}
		time.Sleep(classroom.Silence - time.Second)
		asks(stays)
		counted("just in time", "[1 0] 3 3")
		time.Sleep(2 * time.Second)
		counted("one has answered, one is gone, one has yet to answer", "[1 0] 2 1")
		asks(closes)
		counted("one is back", "[1 0] 3 2")
		asks(answers)
		counted("all are", "[1 0] 3 3")
		if state, err := session.Leave(answers); err != nil || state.Participants != 2 {
			t.Errorf("one has left: %+v, %v", state, err)
		}
		counted("one has left", "[0 0] 2 2")
		if _, err := session.State(answers); !errors.Is(err, classroom.ErrParticipant) {
			t.Errorf("who has left asks: %v", err)
		}
	})
}

// The right answer and the distribution of answers are visible once the answer is revealed, and not before.
func TestStateHasAnswerOnceRevealed(t *testing.T) {
	handler := route.Mux(classroom.New(docs.Course()).Routes()...)
	ask(t, handler, http.MethodPost, "/room", "", nil)
	who := join(t, handler).Participant
	ask(t, handler, http.MethodPost, "/room/answer", answerOf(who, 3, 2), nil)
	for at, want := range map[string]string{`{"at":"3"}`: "0 [] 0", `{"at":"3","revealed":true}`: "3 [0 1 0] 2"} {
		var room classroom.State
		ask(t, handler, http.MethodPut, "/room", at, nil)
		ask(t, handler, http.MethodGet, "/room?participant="+who, "", &room)
		if got := fmt.Sprint(room.Answer, room.Counts, room.Choice); got != want {
			t.Errorf("at %s: %s; want %s", at, got, want)
		}
	}
	var room classroom.State
	if ask(t, handler, http.MethodDelete, "/room/join?participant="+who, "", &room); room.Participants != 0 {
		t.Errorf("one has left, and there are %d", room.Participants)
	}
	if status := ask(t, handler, http.MethodGet, "/room?participant="+who, "", nil); status != http.StatusNotFound {
		t.Errorf("who has left asks: %d", status)
	}
}
