package seat

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/lock/verdict"
)

// tableActors is how many the table has, as lockstep explore --all.
const tableActors = 2

// Cell is the event that says what was found about a lock and an anomaly.
type Cell struct {
	Lock     string `json:"lock"`
	Anomaly  string `json:"anomaly"`
	Answer   string `json:"answer"`   // never, broken, unknown, or n/a: the lock does not promise this
	Steps    int    `json:"steps"`    // of the shortest schedule that shows it
	Scenario string `json:"scenario"` // the name of the one that it is in
	Says     string `json:"says"`     // as lockstep explore --all prints it
	Link     string `json:"link"`     // of a broken cell
}

// Row is what is known of a lock.
type Row struct {
	Cells   []Cell  `json:"cells"`
	Seconds float64 `json:"seconds"` // that it took
	Shipped bool    `json:"-"`       // it was not found here
}

// table tells the table, a row at a time. Each row has a turn of its own, so that others need not wait for all of them. Who asks for it
// anew gets what was found here.
func (s *Seat) table(w http.ResponseWriter, r *http.Request) error {
	in, err := languageOf(r.URL.Query())
	if err != nil {
		return err
	}
	anew := r.URL.Query().Has("anew")
	return s.stream(w, r, func(t *ticket, tell tell) (any, error) {
		var all struct {
			Seconds float64 `json:"seconds"` // that it took
			Shipped bool    `json:"shipped"` // some of it was not found here
		}
		for _, lock := range evolution.Table() {
			tell("row", map[string]string{"lock": lock.Name, "title": lock.Title.In(in)})
			row, err := s.row(r.Context(), t, lock, anew, tell)
			if err != nil {
				return nil, err
			}
			all.Seconds, all.Shipped = all.Seconds+row.Seconds, all.Shipped || row.Shipped
			for _, cell := range row.Cells {
				tell("cell", cell)
			}
		}
		return all, nil
	})
}

// row explores a lock in every scenario, unless that was done before.
func (s *Seat) row(ctx context.Context, t *ticket, lock strategy.Strategy, anew bool, tell tell) (row Row, err error) {
	far := struct {
		Lock    string `json:"lock"`
		Done    int    `json:"done"`
		Of      int    `json:"of"`
		Waiting bool   `json:"waiting"`
	}{lock.Name, 0, len(explore.ScenariosOf(lock, tableActors)), true}
	known := func() (ok bool) {
		row, ok = s.rows.Get(lock.Name)
		return ok && (!anew || !row.Shipped)
	}
	progress := func() { tell("progress", far) }
	left := t.once(ctx, known, progress, func() {
		far.Waiting = false
		progress()
		row, err = s.explored(ctx, lock, func() { far.Done++; progress() })
	})
	return row, cmp.Or(left, err)
}

// explored explores a lock in every scenario, tells of each that it has ended, and keeps what was found.
func (s *Seat) explored(ctx context.Context, lock strategy.Strategy, ended func()) (row Row, err error) {
	begun, one := time.Now(), []strategy.Strategy{lock}
	found, err := explore.All(ctx, one, tableActors, s.limits.Cell, func(_ explore.NamedScenario, _ explore.Result, over bool) {
		if over {
			ended()
		}
	})
	if err == nil && ctx.Err() != nil {
		err = ErrLeft // what is unknown now may be known to others
	}
	if err != nil {
		return row, err
	}
	row.Seconds = time.Since(begun).Seconds()
	for _, found := range found[0].Cells {
		row.Cells = append(row.Cells, cellOf(lock.Name, found))
	}
	s.keep(lock.Name, row)
	return row, nil
}

// keep keeps a row, and the ways of its broken cells.
func (s *Seat) keep(lock string, row Row) {
	s.rows.Add(lock, row)
	for _, cell := range row.Cells {
		if cell.Link != "" {
			in, do := cell.where()
			s.noteWay(goalOf(lock, in, explore.Anomaly(cell.Anomaly)), do, 0)
		}
	}
}

// where gives the scenario, as flags, and the schedule to which the link of a broken cell leads.
func (c Cell) where() (in, do string) {
	_, query, _ := strings.Cut(c.Link, "?")
	values, _ := url.ParseQuery(query) // it is of our own making
	return values.Get("in"), values.Get("do")
}

func cellOf(lock string, c explore.Cell) Cell {
	cell := Cell{Lock: lock, Anomaly: string(c.Anomaly), Answer: "n/a", Says: c.String()}
	if !c.Applies {
		return cell
	}
	switch c.Verdict() {
	case verdict.Holds:
		cell.Answer = "never"
	case verdict.Unknown:
		cell.Answer = "unknown"
	case verdict.Broken:
		found := c.Found[0]
		cell.Answer, cell.Steps, cell.Scenario = "broken", found.Length, found.Scenario.Name
		cell.Link = Link(lock, found.Scenario.String(), found.Schedule, Code(found.Trace)) + "&anomaly=" + cell.Anomaly
	}
	return cell
}
