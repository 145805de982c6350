package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"lockstep/internal/language"
	"lockstep/internal/trace"
)

const nasty = `</script><script>alert(1)</script><!-- "quoted" & ` + "\u2028"

// schedules returns data of KindSchedules whose texts try to end the element that they are in.
func schedules() map[string]any {
	steps := []trace.Step{
		{Token: "A:SET", Actor: "A", Command: "SET " + nasty, Reply: "OK", Says: "A takes the lock " + nasty, Lock: "A", Stock: "100",
			Standing: []trace.Stance{trace.Inside, trace.Absent}},
		{Token: "B:SET", Actor: "B", Says: "B takes it, too", Lock: "B", Stock: "100", Standing: []trace.Stance{trace.Inside, trace.Inside}},
	}
	return map[string]any{"lock": "v2", "title": nasty, "schedules": []map[string]any{{
		"anomaly": "two-holders", "says": nasty, "length": 2, "trace": trace.Trace{Actors: []string{"A", "B"}, Steps: steps, Verdict: nasty},
	}}}
}

func document(t *testing.T, in language.Language) string {
	t.Helper()
	text, err := Document(KindSchedules, nasty, schedules(), in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A document is one file that makes no requests, and its data cannot run as code.
func TestDocumentNeedsNoServer(t *testing.T) {
	text := document(t, language.Chinese)
	if len(text) > 100_000 {
		t.Errorf("it has %d bytes", len(text))
	}
	for _, reference := range []string{`src=`, `href="/`, `url(`, `@import`, `import(`, "\nimport ", "\nexport "} {
		if at := strings.Index(text, reference); at >= 0 {
			t.Errorf("it has %q: %.120s", reference, text[at:])
		}
	}
	for _, address := range regexp.MustCompile(`https?://[^"' ]+`).FindAllString(text, -1) {
		if address != "http://www.w3.org/2000/svg" {
			t.Errorf("it names %s", address)
		}
	}
	if n := strings.Count(text, "<script"); n != 2 || strings.Count(text, "</script>") != 2 || strings.Count(text, "<!--") > 0 {
		t.Errorf("it has %d scripts: its data has ended one", n)
	}
	if !strings.Contains(text, `<html lang="zh">`) || !strings.Contains(text, "需要 JavaScript") || !strings.Contains(text,
		"default-src 'none'") {
		t.Errorf("it begins with %.900s", text)
	}
	_, after, _ := strings.Cut(text, `id="data">`)
	data, _, _ := strings.Cut(after, "</script>")
	var read struct{ Title string }
	if err := json.Unmarshal([]byte(data), &read); err != nil || read.Title != nasty {
		t.Errorf("%v: the data says %q", err, read.Title)
	}
}

// An importer gets the exports of a module. An import in an unknown form is an error, so no document is made that would not run.
func TestBundleLinksModules(t *testing.T) {
	files := fstest.MapFS{
		"a.js":    {Data: []byte("import { b, c as d } from \"./b.js\";\nb(d);\n")},
		"b.js":    {Data: []byte("export function b() {}\nexport const c = 1;\n")},
		"self.js": {Data: []byte("import { b } from \"./self.js\";\nexport const b = 1;\n")},
		"late.js": {Data: []byte("const a = await import(\"./b.js\");\n")},
		"star.js": {Data: []byte("import * as b from \"./b.js\";\n")},
		"out.js":  {Data: []byte("import { b } from \"./gone.js\";\n")},
	}
	script, err := bundle(files, "a.js")
	if err != nil || !strings.Contains(script, `const { b, c: d } = modules["b.js"];`) || !strings.Contains(script, "return { b, c };") {
		t.Errorf("%v: %s", err, script)
	}
	for _, name := range []string{"self.js", "late.js", "star.js"} {
		if _, err := bundle(files, name); !errors.Is(err, errModule) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v; want errModule", name, err)
		}
	}
	if _, err := bundle(files, "out.js"); err == nil {
		t.Error("a module that is not there is no error")
	}
}

// The page, also in a tab, has a run's document without data, with placeholders for the data and the language.
func TestRunDocumentHasPlaceholders(t *testing.T) {
	answer := httptest.NewRecorder()
	Handlers()["/web/documents/run.html"].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	inTab := TabFiles("1")["web/documents/run.html"]
	for where, document := range map[string]string{"a server": answer.Body.String(), "a tab": string(inTab)} {
		for _, place := range []string{`lang="en"`, `id="data">null<`} { // see documents/save.js
			if strings.Count(document, place) != 1 {
				t.Errorf("%s: the document has %d places %s", where, strings.Count(document, place), place)
			}
		}
	}
}
