package seat_test

import (
	"slices"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
)

func shipped(t *testing.T) seat.Shipped {
	t.Helper()
	return decodeData[seat.Shipped](t, string(seat.DefaultLimits().Table))
}

// The shipped table was made from this code, has every lock, is served without exploring, and its schedules show what it says.
func TestShippedTableIsCurrent(t *testing.T) {
	if shipped(t).Code != seat.CodeKey() {
		t.Fatal("the table that is shipped is of other code: go test ./internal/test/oracle -tags long -update")
	}
	s := open(t, seat.DefaultLimits())
	for event := range events(t, s, "/seat/table") {
		switch event.name {
		case "progress", "failed":
			t.Fatalf("it is explored: %s", event.data)
		case "done":
			if !decodeData[struct{ Shipped bool }](t, event.data).Shipped {
				t.Error("it does not say that it is shipped")
			}
		case "cell":
			if cell := decodeData[seat.Cell](t, event.data); cell.Answer == "broken" {
				shown := follow(t, s, cell.Link).View.Hits
				if !slices.ContainsFunc(shown, func(a explore.AnomalyHit) bool { return string(a.Anomaly) == cell.Anomaly && a.Step == cell.Steps }) {
					t.Errorf("%s shows %+v; want %s at step %d", cell.Link, shown, cell.Anomaly, cell.Steps)
				}
			}
		}
	}
	if rows := len(shipped(t).Rows); rows != len(evolution.Table()) {
		t.Errorf("it has %d rows", rows)
	}
}
