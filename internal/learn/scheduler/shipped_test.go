package scheduler_test

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
	"lockstep/internal/lock/evolution"
)

var update = flag.Bool("update", false, "write the table that is shipped")

const (
	shippedFile = "../../explore/seat/table.json"
	makeAnew    = "go test ./internal/learn/scheduler -tags long -run EveryBrokenCell -update"
)

// ship compares the table that is shipped with one that was made now, or writes it.
func ship(t *testing.T, made seat.Shipped, seconds float64) {
	t.Helper()
	if *update {
		for lock, row := range made.Rows {
			row.Seconds = seconds / float64(len(made.Rows))
			made.Rows[lock] = row
		}
		text, err := json.MarshalIndent(made, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(shippedFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for lock, row := range shipped(t).Rows {
		if now := made.Rows[lock]; !reflect.DeepEqual(now.Cells, row.Cells) {
			t.Errorf("%s: the table that is shipped says %+v; now it is %+v: %s", lock, row.Cells, now.Cells, makeAnew)
		}
	}
}

func shipped(t *testing.T) seat.Shipped {
	t.Helper()
	text, err := os.ReadFile(shippedFile)
	if err != nil {
		t.Fatal(err)
	}
	return decoded[seat.Shipped](t, string(text))
}

// The table that is shipped is of this code, has every lock, and is there at once; each of its schedules shows what it says.
func TestTheTableIsShipped(t *testing.T) {
	if shipped(t).Code != seat.CodeKey() {
		t.Fatal("the table that is shipped is of other code: ", makeAnew)
	}
	s := open(t, seat.Usual())
	for event := range events(t, s, "/seat/table") {
		switch event.name {
		case "progress", "failed":
			t.Fatalf("it is explored: %s", event.data)
		case "done":
			if !decoded[struct{ Shipped bool }](t, event.data).Shipped {
				t.Error("it does not say that it is shipped")
			}
		case "cell":
			if cell := decoded[seat.Cell](t, event.data); cell.Answer == "broken" {
				shown := follow(t, s, cell.Link).View.Shown
				if !slices.ContainsFunc(shown, func(a explore.Shown) bool { return string(a.Anomaly) == cell.Anomaly && a.Step == cell.Steps }) {
					t.Errorf("%s shows %+v; want %s at step %d", cell.Link, shown, cell.Anomaly, cell.Steps)
				}
			}
		}
	}
	if rows := len(shipped(t).Rows); rows != len(evolution.Table()) {
		t.Errorf("it has %d rows", rows)
	}
}
