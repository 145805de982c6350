package classroom_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/docs"
	"lockstep/internal/api/route"
	"lockstep/internal/classroom"
)

// One address cannot fill the session: a participant from another address gets in, and one from the same address takes the place of the
// longest idle one.
func TestOneAddressCannotFillSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := newSession()
		defer session.Close()
		first, second := addParticipant(t, session, "10.0.0.66"), addParticipant(t, session, "10.0.0.66")
		time.Sleep(time.Second)
		for range classroom.MaxParticipants - 2 {
			addParticipant(t, session, "10.0.0.66")
		}
		time.Sleep(time.Second)
		if err := session.Answer(first, 3, 1); err != nil { // the most recently active one
			t.Error(err)
		}
		addParticipant(t, session, "10.0.0.7")
		if err := session.Answer(second, 3, 1); !errors.Is(err, classroom.ErrParticipant) {
			t.Errorf("who was idle for longest: %v; want its place to be another's", err)
		}
		addParticipant(t, session, "10.0.0.66")
		if err := session.Answer(first, 3, 1); err != nil {
			t.Errorf("who was there since: %v", err)
		}
		if state, err := session.State(first); err != nil || state.Participants != classroom.MaxParticipants {
			t.Errorf("there are %d participants, %v; want %d", state.Participants, err, classroom.MaxParticipants)
		}
	})
}

func TestJoinReturnsErrFullWhenEachAddressHasOneParticipant(t *testing.T) {
	session := newSession()
	defer session.Close()
	for i := range classroom.MaxParticipants {
		addParticipant(t, session, fmt.Sprint("address ", i))
	}
	if _, err := session.Join("another"); !errors.Is(err, classroom.ErrFull) {
		t.Errorf("one more: %v", err)
	}
}

// The teacher can drop an address, from which nobody can join until the session is closed.
func TestDroppedAddressCannotJoinUntilSessionCloses(t *testing.T) {
	class, from := classroom.New(docs.Course()), "10.0.0.7"
	class.Client = func(*http.Request) string { return from }
	handler := route.Mux(class.Routes()...)
	list := func() string {
		var all struct{ Participants []classroom.AddressCount }
		ask(t, handler, http.MethodGet, "/room/participants", "", &all)
		return fmt.Sprint(all.Participants)
	}
	want := func(status int, method, path, body string) {
		t.Helper()
		if got := ask(t, handler, method, path, body, nil); got != status {
			t.Errorf("%s %s: %d; want %d", method, path, got, status)
		}
	}
	want(http.StatusNotFound, http.MethodGet, "/room/participants", "")
	want(http.StatusOK, http.MethodPost, "/room", "")
	pupil := join(t, handler)
	from = "10.0.0.66"
	join(t, handler)
	script := join(t, handler)
	if all := list(); all != "[{10.0.0.66 2} {10.0.0.7 1}]" {
		t.Errorf("there are %s", all)
	}
	want(http.StatusOK, http.MethodDelete, "/room/participants/10.0.0.66", "")
	want(http.StatusNotFound, http.MethodPost, "/room/answer", answerOf(script.Participant, 3, 1))
	want(http.StatusForbidden, http.MethodPost, "/room/join", "")
	want(http.StatusNotFound, http.MethodDelete, "/room/participants/10.0.0.66", "")
	want(http.StatusOK, http.MethodPost, "/room/answer", answerOf(pupil.Participant, 3, 1))
	if all := list(); all != "[{10.0.0.7 1}]" {
		t.Errorf("there are %s left", all)
	}
	want(http.StatusOK, http.MethodDelete, "/room", "")
	want(http.StatusOK, http.MethodPost, "/room", "")
	want(http.StatusOK, http.MethodPost, "/room/join", "")
}
