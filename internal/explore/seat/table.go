package seat

import (
	"crypto/sha256"
	_ "embed" // for table.json
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"lockstep/internal"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
	"lockstep/util/lua"
)

// tableActors is the number of actors in the table's scenarios, as in those of lockstep explore --all.
const tableActors = 2

// Cell is the event with the result for a lock and an anomaly.
type Cell struct {
	Lock     string `json:"lock"`     // name of the lock
	Anomaly  string `json:"anomaly"`  // name of the anomaly
	Answer   string `json:"answer"`   // never, broken, unknown, or n/a: the lock does not promise to prevent the anomaly
	Steps    int    `json:"steps"`    // length of the shortest schedule that shows the anomaly; 0: none
	Scenario string `json:"scenario"` // name of that schedule's scenario
	Says     string `json:"says"`     // text that lockstep explore --all prints
	Link     string `json:"link"`     // link to that schedule, see the function Link; "": not broken
}

// Row contains the results of a lock in the table.
type Row struct {
	Cells   []Cell  `json:"cells"`   // one for each anomaly
	Seconds float64 `json:"seconds"` // duration of the exploration
	Shipped bool    `json:"-"`       // the row comes from table.json, not from this process
}

// handleTable handles GET /seat/table: it streams the table row by row. Each row takes its own turn, so that other readers need not wait
// for the whole table. With the parameter anew, it explores shipped rows again.
func (s *Seat) handleTable(w http.ResponseWriter, r *http.Request) error {
	in, err := parseLanguage(r.URL.Query())
	if err != nil {
		return err
	}
	ignoresShipped := r.URL.Query().Has("anew")
	return streamEvents(w, func(send sendEvent) (any, error) {
		var all struct {
			Seconds float64 `json:"seconds"` // duration of all explorations
			Shipped bool    `json:"shipped"` // some rows come from table.json
		}
		for _, lock := range evolution.Table() {
			begin := sync.OnceFunc(func() { send("row", map[string]string{"lock": lock.Name, "title": lock.Title.In(in)}) })
			row, err := s.row(r, lock, ignoresShipped, func(name string, value any) { begin(); send(name, value) })
			if err != nil {
				return nil, err
			}
			begin()
			all.Seconds, all.Shipped = all.Seconds+row.Seconds, all.Shipped || row.Shipped
			for _, cell := range row.Cells {
				send("cell", cell)
			}
		}
		return all, nil
	})
}

// row returns the row of a lock. Unless the row is cached, it explores the lock in every scenario.
func (s *Seat) row(r *http.Request, lock strategy.Strategy, ignoresShipped bool, send sendEvent) (row Row, err error) {
	state := struct {
		Lock    string `json:"lock"`
		Done    int    `json:"done"`
		Of      int    `json:"of"`
		Waiting bool   `json:"waiting"`
	}{lock.Name, 0, len(explore.ScenariosFor(lock, tableActors)), true}
	progress := func() { send("progress", state) }
	isCached := func() (ok bool) {
		row, ok = s.rows.Get(lock.Name)
		return ok && (!ignoresShipped || !row.Shipped)
	}
	err = s.explorations.run(r.Context(), s.client(r), isCached, progress, func() error {
		begun := time.Now()
		state.Waiting = false
		progress()
		found, err := explore.Tabulate(r.Context(), []strategy.Strategy{lock}, tableActors, s.limits.Cell,
			func(_ explore.NamedScenario, _ explore.Result, ended bool) {
				if ended {
					state.Done++
					progress()
				}
			})
		switch {
		case err != nil:
			return err
		case r.Context().Err() != nil:
			return ErrLeft // Incomplete cells must not be cached for other readers.
		}
		row = Row{Seconds: time.Since(begun).Seconds()}
		for _, found := range found[0].Cells {
			row.Cells = append(row.Cells, newCell(lock.Name, found))
		}
		s.cacheRow(lock.Name, row)
		return nil
	})
	return row, err
}

// cacheRow caches a row, and the hints along the shortest schedules of its broken cells.
func (s *Seat) cacheRow(lock string, row Row) {
	s.rows.Add(lock, row)
	s.rowVersion.Add(1)
	for _, cell := range row.Cells {
		if cell.Link != "" {
			in, do := cell.scenarioAndSchedule()
			s.cacheShortestPath(hintKey(lock, in, explore.Anomaly(cell.Anomaly)), do, 0)
		}
	}
}

// scenarioAndSchedule returns the scenario and the schedule in the link of a broken cell.
func (c Cell) scenarioAndSchedule() (in, do string) {
	_, query, _ := strings.Cut(c.Link, "?")
	values, _ := url.ParseQuery(query) // Link made it, so it is well-formed.
	return values.Get("in"), values.Get("do")
}

// newCell converts the result of an exploration.
func newCell(lock string, c explore.AnomalyCell) Cell {
	cell := Cell{Lock: lock, Anomaly: string(c.Anomaly), Answer: string(c.Verdict()), Says: c.String()}
	switch {
	case !c.Applies:
		cell.Answer = string(verdict.NA)
	case c.Verdict() == verdict.Holds:
		cell.Answer = "never"
	case c.Verdict() == verdict.Broken:
		found := c.Found[0]
		cell.Steps, cell.Scenario = found.Length(), found.Scenario.Name
		cell.Link = Link(lock, found.Scenario.String(), found.Trace) + "&anomaly=" + cell.Anomaly
	}
	return cell
}

//go:embed table.json
var shippedTable []byte

// Shipped is the table that is embedded into the program so that the first reader does not wait for an exploration. It is used only if
// CodeKey is the same as when the table was made. The command go test ./internal/test/oracle -tags long -update makes a new table.
type Shipped struct {
	Code string         `json:"code"` // CodeKey of the program that made the table
	Rows map[string]Row `json:"rows"` // rows by lock
}

// CodeKey returns a hash of the code that the table is about: the locks, their scripts, and the updates of the stock. It does not cover the
// explorer.
func CodeKey() string {
	all := sha256.New()
	for _, files := range []fs.FS{internal.Sources, lua.Sources} {
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(files, name)
			all.Write([]byte(name + "\x00" + string(text) + "\x00"))
			return err
		})
		if err != nil {
			panic(err) // embedded files can always be read
		}
	}
	return base64.RawURLEncoding.EncodeToString(all.Sum(nil))
}

// loadTable caches the rows of a shipped table and their hints, if the table was made from this code.
func (s *Seat) loadTable(text []byte) {
	var table Shipped
	if json.Unmarshal(text, &table) != nil || table.Code != CodeKey() {
		return
	}
	for lock, row := range table.Rows {
		row.Shipped = true
		s.cacheRow(lock, row)
	}
}
