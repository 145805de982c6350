package checkout

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/docs"
	"lockstep/internal/api/route"
	"lockstep/internal/classroom"
	"lockstep/internal/explore/seat"
	"lockstep/internal/language"
	stepsof "lockstep/internal/steps"
	"lockstep/internal/web"
)

var (
	links     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	hrefs     = regexp.MustCompile(`href=\\"([^"\\]+)\\"`)
	mentioned = regexp.MustCompile("`((?:exercises|docs|internal|util)/[^` ]+)`")
	viewNames = regexp.MustCompile(`(?m)^  "?(\w*)"?: \{ load: `)
)

const pageOfLessons = "http://127.0.0.1:8080/#/"

// Every link of the course into the page opens, in the file and on the page: the server knows what the page asks it for.
// TestLinksLeadToFiles follows those to files.
func TestCourseLinksOpen(t *testing.T) {
	p, seen := newLinkedPage(t), map[string]bool{}
	for _, document := range courseFiles() {
		text := read(t, document)
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			seen[link[1]] = true
			if place, of := strings.CutPrefix(link[1], pageOfLessons); of {
				p.opens(t, document, place)
			}
		}
		for _, file := range mentioned.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(file[1]); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
	}
	for _, in := range language.All() {
		for _, lesson := range lessons(t, in) {
			address := "/course/" + lesson.File[:2] + "?lang=" + string(in)
			for _, link := range hrefs.FindAllStringSubmatch(p.ask(t, address, address), -1) {
				if place, of := strings.CutPrefix(unescaped(link[1]), "#/"); of {
					p.opens(t, address, place)
				}
			}
		}
	}
	if len(seen) < 60 {
		t.Errorf("the course has %d links; want them all", len(seen))
	}
}

// unescaped is an address as it was before it was written into HTML.
func unescaped(address string) string { return strings.ReplaceAll(address, "&amp;", "&") }

// linkedPage is what a link into the page meets there: the views of the router, and the server that they ask.
type linkedPage struct {
	views   []string
	handler http.Handler
}

func newLinkedPage(t *testing.T) linkedPage {
	t.Helper()
	router, err := fs.ReadFile(web.Files(), "app.js")
	if err != nil {
		t.Fatal(err)
	}
	var p linkedPage
	for _, view := range viewNames.FindAllStringSubmatch(string(router), -1) {
		p.views = append(p.views, view[1])
	}
	explorer, class := seat.New(seat.DefaultLimits(), nil), classroom.New(docs.Course())
	p.handler = route.Mux(slices.Concat(explorer.Routes(), stepsof.Routes(), class.Routes())...)
	return p
}

// opens follows a link to a place of the page, as the view does that is there.
func (p linkedPage) opens(t *testing.T, from, place string) {
	t.Helper()
	where, query, _ := strings.Cut(place, "?")
	view, rest, _ := strings.Cut(where, "/")
	asked, err := url.ParseQuery(query)
	if err != nil || !slices.Contains(p.views, view) {
		t.Errorf("%s: the page has no #/%s (%v)", from, place, err)
		return
	}
	switch view {
	case "schedule":
		if rest == "" { // the levels
			p.ask(t, from, "/seat")
			return
		}
		p.schedule(t, from, rest, asked)
	case "locks":
		p.ask(t, from, "/seat/code?lock="+rest)
	case "course":
		if lesson, _, _ := strings.Cut(rest, "#"); lesson != "" {
			p.ask(t, from, "/course/"+lesson)
		}
	}
}

// schedule asks for the state after a schedule. It has to fit, to the last step, and to show the anomaly that the link names, or none.
func (p linkedPage) schedule(t *testing.T, from, lock string, link url.Values) {
	t.Helper()
	answer := p.ask(t, from, "/seat/state?"+url.Values{"lock": {lock}, "in": link["in"], "do": link["do"], "lang": {"en"}}.Encode())
	var state seat.State
	if err := json.Unmarshal([]byte(answer), &state); err != nil {
		t.Errorf("%s: %v: %s", from, err, answer)
		return
	}
	if want := link.Get("do"); state.Stale != nil || state.View.Schedule != want {
		t.Errorf("%s: the seat goes as far as %q in %q: %+v", from, state.View.Schedule, want, state.Stale)
	}
	if link.Get("do") == "" {
		return // the reader is to find the schedule
	}
	want, args := 0, append([]string{"explore", lock}, strings.Fields(link.Get("in"))...)
	args = append(args, "--replay", link.Get("do"))
	if anomaly := link.Get("anomaly"); anomaly != "" {
		want, args = 1, append(args, "--anomaly", anomaly)
	}
	var output bytes.Buffer
	if code := asTyped.Run(t.Context(), args, &output, &output); code != want {
		t.Errorf("%s: %v: exit code %d; want %d\n%s", from, args, code, want, &output)
	}
}

// ask gives what the server answers; it has to be a success.
func (p linkedPage) ask(t *testing.T, from, address string) string {
	t.Helper()
	answer := httptest.NewRecorder()
	p.handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody))
	if answer.Code != http.StatusOK {
		t.Errorf("%s: GET %s: %d: %s", from, address, answer.Code, answer.Body)
	}
	return answer.Body.String()
}
