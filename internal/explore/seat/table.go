package seat

import (
	"crypto/sha256"
	_ "embed" // of the table
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
	return stream(w, func(tell tell) (any, error) {
		var all struct {
			Seconds float64 `json:"seconds"` // that it took
			Shipped bool    `json:"shipped"` // some of it was not found here
		}
		for _, lock := range evolution.Table() {
			begin := sync.OnceFunc(func() { tell("row", map[string]string{"lock": lock.Name, "title": lock.Title.In(in)}) })
			row, err := s.row(r, lock, anew, func(name string, value any) { begin(); tell(name, value) })
			if err != nil {
				return nil, err
			}
			begin()
			all.Seconds, all.Shipped = all.Seconds+row.Seconds, all.Shipped || row.Shipped
			for _, cell := range row.Cells {
				tell("cell", cell)
			}
		}
		return all, nil
	})
}

// row explores a lock in every scenario, unless that was done before, and keeps what was found.
func (s *Seat) row(r *http.Request, lock strategy.Strategy, anew bool, tell tell) (row Row, err error) {
	far := struct {
		Lock    string `json:"lock"`
		Done    int    `json:"done"`
		Of      int    `json:"of"`
		Waiting bool   `json:"waiting"`
	}{lock.Name, 0, len(explore.ScenariosFor(lock, tableActors)), true}
	progress := func() { tell("progress", far) }
	known := func() (ok bool) {
		row, ok = s.rows.Get(lock.Name)
		return ok && (!anew || !row.Shipped)
	}
	err = s.turns.take(r.Context(), s.client(r), known, progress, func() error {
		begun := time.Now()
		far.Waiting = false
		progress()
		found, err := explore.All(r.Context(), []strategy.Strategy{lock}, tableActors, s.limits.Cell,
			func(_ explore.NamedScenario, _ explore.Result, over bool) {
				if over {
					far.Done++
					progress()
				}
			})
		switch {
		case err != nil:
			return err
		case r.Context().Err() != nil:
			return ErrLeft // what is unknown now may be known to others
		}
		row = Row{Seconds: time.Since(begun).Seconds()}
		for _, found := range found[0].Cells {
			row.Cells = append(row.Cells, cellOf(lock.Name, found))
		}
		s.keep(lock.Name, row)
		return nil
	})
	return row, err
}

// keep keeps a row, and the ways of its broken cells.
func (s *Seat) keep(lock string, row Row) {
	s.rows.Add(lock, row)
	s.found.Add(1)
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

func cellOf(lock string, c explore.AnomalyCell) Cell {
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

// Shipped is the table that a program brings along, for its first reader need not wait until it is explored. It counts as long as the code
// is that from which it was made: go test ./internal/test/oracle -tags long -update makes it anew.
type Shipped struct {
	Code string         `json:"code"` // CodeKey, when it was made
	Rows map[string]Row `json:"rows"` // by lock
}

// CodeKey stands for the code that the table is about: of the locks, their scripts, and the update.
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
			panic(err) // what is embedded can be read
		}
	}
	return base64.RawURLEncoding.EncodeToString(all.Sum(nil))
}

// load keeps the rows of a table that was shipped, and the ways that they know, if they are about this code.
func (s *Seat) load(text []byte) {
	var table Shipped
	if json.Unmarshal(text, &table) != nil || table.Code != CodeKey() {
		return
	}
	for lock, row := range table.Rows {
		row.Shipped = true
		s.keep(lock, row)
	}
}
