package classroom_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lockstep/docs"
	"lockstep/internal/learn/classroom"
	"lockstep/internal/lock"
	"lockstep/internal/shop/route"
)

func solvedBy(who, lock, schedule string) string {
	return fmt.Sprintf(`{"participant":%q,"lock":%q,"schedule":%q}`, who, lock, schedule)
}

// The board counts each participant's best once, and names the first who needed the fewest steps; all at once, and in any order.
func TestTheBoardCountsEachOnce(t *testing.T) {
	var closed classroom.Room
	if _, err := closed.Board(); !errors.Is(err, classroom.ErrNoRoom) {
		t.Errorf("before it is open: %v", err)
	}
	room := opened()
	var class []classroom.Joined
	for range 41 {
		joined, err := room.Join("10.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		class = append(class, joined)
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for _, steps := range []int{9, 7 + i%2, 8} {
				if err := room.Solve(class[i].Participant, "v2", steps); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for n, who := range class[1:4] { // the second and the third need fewer; the second was the first of them
		if err := room.Solve(who.Participant, "v2", 7-min(n, 1)); err != nil {
			t.Error(err)
		}
	}
	if board, err := room.Board(); err != nil || fmt.Sprint(board) != fmt.Sprintf("{41 [{v2 40 6 %d}]}", class[2].Badge) {
		t.Errorf("%v, %v", board, err)
	}
	room.Close()
	room.Open()
	if board, err := room.Board(); err != nil || fmt.Sprint(board) != "{0 []}" {
		t.Errorf("the next room has %v, %v", board, err)
	}
}

// A schedule counts only if it solves the level, and is run only in an open room.
func TestTheBoardTakesNoNonsense(t *testing.T) {
	class, asked := classroom.New(docs.Course()), 0
	class.Solve = func(_ context.Context, _, name, schedule string) (int, error) {
		if asked++; name != "v2" || schedule == "" {
			return 0, lock.WithCode("bad_request", "it does not show it")
		}
		return len(strings.Fields(schedule)), nil
	}
	handler := route.Mux(class.Routes()...)
	for range 2 {
		right := solvedBy("somebody", "v2", "A:SET expiry B:SET")
		if status := ask(t, handler, http.MethodPost, "/room/solved", right, nil); status != http.StatusNotFound || asked > 0 {
			t.Errorf("who is not in a room: %d, and %d schedules were run", status, asked)
		}
		ask(t, handler, http.MethodPost, "/room", "", nil)
	}
	who := join(t, handler)
	right := solvedBy(who.Participant, "v2", "A:SET expiry B:SET")
	for body, want := range map[string]int{
		right:                                         http.StatusOK,
		solvedBy(who.Participant, "v3", "A:SET"):      http.StatusBadRequest,
		solvedBy(who.Participant, "v2", ""):           http.StatusBadRequest,
		solvedBy("Ann", "v2", "A:SET"):                http.StatusNotFound,
		strings.Replace(right, "{", `{"badge":7,`, 1): http.StatusBadRequest, // nobody chooses it
		"": http.StatusBadRequest,
	} {
		if status := ask(t, handler, http.MethodPost, "/room/solved", body, nil); status != want {
			t.Errorf("%s: %d; want %d", body, status, want)
		}
	}
	var board classroom.Board
	if ask(t, handler, http.MethodGet, "/room/board", "", &board); fmt.Sprint(board) != fmt.Sprintf("{1 [{v2 1 3 %d}]}", who.Badge) {
		t.Errorf("the board is %v", board)
	}
}

// The class is where the one who teaches says, and only at what there is.
func TestTheClassFollows(t *testing.T) {
	handler := route.Mux(classroom.New(docs.Course()).Routes()...)
	const third = `{"at":"3","revealed":true}`
	if status := ask(t, handler, http.MethodPut, "/room", third, nil); status != http.StatusNotFound {
		t.Errorf("without a room: %d", status)
	}
	var room classroom.State
	if ask(t, handler, http.MethodPost, "/room", "", &room); room.At != "" {
		t.Errorf("it begins at %q", room.At)
	}
	for body, want := range map[string]int{
		`{"at":"99"}`: http.StatusBadRequest, `{"at":"//example.com"}`: http.StatusBadRequest, `{"at":""}`: http.StatusBadRequest,
		`{"on":"03"}`: http.StatusBadRequest, `{"at":"campaign"}`: http.StatusOK,
	} {
		if status := ask(t, handler, http.MethodPut, "/room", body, nil); status != want {
			t.Errorf("%s: %d; want %d", body, status, want)
		}
	}
	if ask(t, handler, http.MethodGet, "/room", "", &room); room.At != classroom.Campaign || room.Revealed {
		t.Errorf("it plays: %+v", room)
	}
	ask(t, handler, http.MethodPut, "/room", third, nil)
	if ask(t, handler, http.MethodGet, "/room", "", &room); room.At != "03" || !room.Revealed {
		t.Errorf("at lesson 3: %+v", room)
	}
	if status := ask(t, handler, http.MethodGet, "/join", "", nil); status != http.StatusFound {
		t.Errorf("/join: %d", status)
	}
	if status := ask(t, handler, http.MethodGet, "/room/join?from=javascript:alert(1)", "", nil); status != http.StatusBadRequest {
		t.Errorf("an origin that is none: %d", status)
	}
}
