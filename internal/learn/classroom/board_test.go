package classroom_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lockstep/docs"
	"lockstep/internal/learn/classroom"
)

func solvedBy(who string, badge int, lock, schedule string) string {
	return fmt.Sprintf(`{"participant":%q,"badge":%d,"lock":%q,"schedule":%q}`, who, badge, lock, schedule)
}

// The board counts each participant's best once, and names the first who needed the fewest steps; all at once, and in any order.
func TestTheBoardCountsEachOnce(t *testing.T) {
	var room classroom.Room
	if _, err := room.Board(); !errors.Is(err, classroom.ErrNoRoom) {
		t.Errorf("before it is open: %v", err)
	}
	room.Open()
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for _, steps := range []int{9, 7 + i%2, 8} {
				if err := room.Solve(named(i), i, "v2", steps); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for badge, who := range []int{1, 2, 3} { // the second and the third need fewer; the second was the first of them
		if err := room.Solve(named(who), badge, "v2", 7-min(badge, 1)); err != nil {
			t.Error(err)
		}
	}
	if err := room.Answer(named(99), 3, 1); err != nil {
		t.Error(err)
	}
	if board, err := room.Board(); err != nil || fmt.Sprint(board) != "{41 [{v2 40 6 1}]}" {
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
	class.Solve = func(lock, schedule string) (int, error) {
		if asked++; lock != "v2" || schedule == "" {
			return 0, errors.New("it does not show it")
		}
		return len(strings.Fields(schedule)), nil
	}
	handler := class.Handler()
	right := solvedBy(named(1), 0, "v2", "A:SET expiry B:SET")
	if status := ask(t, handler, http.MethodPost, "/room/solved", right, nil); status != http.StatusNotFound || asked > 0 {
		t.Errorf("without a room: %d, and %d schedules were run", status, asked)
	}
	ask(t, handler, http.MethodPost, "/room", "", nil)
	for body, want := range map[string]int{
		right:                                 http.StatusOK,
		solvedBy(named(1), 0, "v3", "A:SET"):  http.StatusBadRequest,
		solvedBy(named(1), 0, "v2", ""):       http.StatusBadRequest,
		solvedBy(named(1), -1, "v2", "A:SET"): http.StatusBadRequest,
		solvedBy(named(1), classroom.MostBadges, "v2", "A:SET"): http.StatusBadRequest,
		solvedBy("Ann", 0, "v2", "A:SET"):                       http.StatusBadRequest,
		`{"participant":"participant-000001","name":"Ann"}`:     http.StatusBadRequest,
		"": http.StatusBadRequest,
	} {
		if status := ask(t, handler, http.MethodPost, "/room/solved", body, nil); status != want {
			t.Errorf("%s: %d; want %d", body, status, want)
		}
	}
	var board classroom.Board
	if ask(t, handler, http.MethodGet, "/room/board", "", &board); fmt.Sprint(board) != "{1 [{v2 1 3 0}]}" {
		t.Errorf("the board is %v", board)
	}
}

// The class is where the one who teaches says, and only at what there is.
func TestTheClassFollows(t *testing.T) {
	handler := classroom.New(docs.Course()).Handler()
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
