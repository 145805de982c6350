package cli

import (
	"fmt"
	"net/http"
	"testing"

	"lockstep/internal/classroom"
)

// answerBody returns the request body with a participant's answer.
func answerBody(participant string, lesson, choice int) string {
	return fmt.Sprintf(`{"participant":%q,"lesson":%d,"choice":%d}`, participant, lesson, choice)
}

// The front has the only classroom. If each replica had its own, six consecutive answers would be in three classrooms.
func TestClusterHasOneClassroom(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "3")
	want := func(status int, method, path, body string, into any) {
		t.Helper()
		if got := c.Ask(method, path, body, into); got != status {
			t.Errorf("%s %s: %d; want %d", method, path, got, status)
		}
	}
	want(http.StatusOK, http.MethodHead, "/room", "", nil)
	want(http.StatusNotFound, http.MethodGet, "/room/03", "", nil)
	want(http.StatusNotFound, http.MethodPost, "/room/answer", answerBody("somebody", 3, 1), nil)
	var state classroom.State
	if want(http.StatusOK, http.MethodPost, "/room", "", &state); !state.Open {
		t.Errorf("opened: %+v", state)
	}
	for i := range 6 {
		var joined classroom.JoinReply
		want(http.StatusOK, http.MethodGet, "/course/03?lang=zh", "", nil) // the front forwards it to one replica after the other
		want(http.StatusOK, http.MethodPost, "/room/join", "", &joined)
		want(http.StatusOK, http.MethodPost, "/room/answer", answerBody(joined.Participant, 3, 1+i%3), nil)
	}
	var counts classroom.AnswerCounts
	want(http.StatusOK, http.MethodGet, "/room/03", "", &counts)
	if got := fmt.Sprint(counts); got != "{3 [2 2 2] 6}" {
		t.Errorf("counted: %s", got)
	}
	want(http.StatusOK, http.MethodHead, "/room/03", "", nil)
	want(http.StatusOK, http.MethodHead, "/join", "", nil)
	want(http.StatusOK, http.MethodDelete, "/room", "", nil)
	if want(http.StatusOK, http.MethodGet, "/room", "", &state); state.Open {
		t.Error("the classroom is open after DELETE /room")
	}
}
