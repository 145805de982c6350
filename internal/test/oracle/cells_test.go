package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/internal/api/route"
	"lockstep/internal/api/sse"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
	"lockstep/internal/test/suite"
)

// shippedFile has the cells with their schedules: the page brings them along.
const shippedFile = "internal/explore/seat/table.json"

// cells gives those of lockstep explore --all. The table that is shipped has them from the same run.
func cells(t *testing.T) (lines []string) {
	table := decoded[seat.Shipped](t, []byte(read(t, shippedFile)))
	if suite.Long {
		now := explored(t)
		if *update {
			ship(t, now)
		} else {
			sameCells(t, table, now)
		}
		table = now
	}
	for _, s := range evolution.Table() {
		for _, cell := range table.Rows[s.Name].Cells {
			lines = append(lines, fmt.Sprintf("cell %s %s: %s", s.Name, cell.Anomaly, cell.Says))
		}
	}
	return lines
}

// explored makes the table anew, as the page does for who asks.
func explored(t *testing.T) seat.Shipped {
	t.Helper()
	limits := seat.DefaultLimits()
	limits.Cell = explore.Bounds{Memory: 1500 << 20} // not the time, which depends on the machine
	defer explore.ReduceGC(limits.Cell)()
	w := httptest.NewRecorder()
	route.Mux(seat.New(limits, nil).Routes()...).ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/seat/table?anew", nil))
	if w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	table, seconds := seat.Shipped{Code: seat.CodeKey(), Rows: map[string]seat.Row{}}, 0.
	for event, err := range sse.Read(w.Body, w.Body.Len()) {
		if err != nil {
			t.Fatal(err)
		}
		switch event.Name {
		case "cell":
			cell := decoded[seat.Cell](t, event.Data)
			row := table.Rows[cell.Lock]
			row.Cells = append(row.Cells, cell)
			table.Rows[cell.Lock] = row
		case "done":
			seconds = decoded[struct{ Seconds float64 }](t, event.Data).Seconds
		case "failed":
			t.Fatal(string(event.Data))
		}
	}
	for lock, row := range table.Rows {
		row.Seconds = seconds / float64(len(table.Rows))
		table.Rows[lock] = row
	}
	return table
}

// decoded reads what is written as JSON.
func decoded[T any](t *testing.T, text []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// ship writes the table that the page brings along.
func ship(t *testing.T, table seat.Shipped) {
	t.Helper()
	text, err := json.MarshalIndent(table, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, shippedFile), append(text, '\n'), 0o644); err != nil { //nolint:gosec // for everybody to read
		t.Fatal(err)
	}
}

// sameCells fails the test if the table that is shipped has other cells, or other schedules, than were found now.
func sameCells(t *testing.T, shipped, now seat.Shipped) {
	t.Helper()
	lines := func(table seat.Shipped) (all []string) {
		for _, lock := range slices.Sorted(maps.Keys(table.Rows)) {
			for _, cell := range table.Rows[lock].Cells {
				all = append(all, fmt.Sprintf("%+v", cell))
			}
		}
		return all
	}
	if changes := difference(lines(shipped), lines(now)); changes != "" {
		t.Errorf("%s has changed: %s\n%s", shippedFile, anew, changes)
	}
}
