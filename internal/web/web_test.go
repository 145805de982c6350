package web_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"lockstep/internal/web"
)

// mostBytes is all that a browser loads, the texts of the course apart.
const mostBytes = 120 << 10

func TestThePageIsSmall(t *testing.T) {
	total := 0
	err := fs.WalkDir(web.Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.HasPrefix(name, "documents/") {
			return nil // these are in the files that --html writes alone
		}
		content, err := fs.ReadFile(web.Files(), name)
		t.Logf("%6d %s", len(content), name)
		total += len(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%6d in all", total); total > mostBytes {
		t.Errorf("the page has %d bytes; want no more than %d", total, mostBytes)
	}
}

func TestEachFileIsServed(t *testing.T) {
	types := map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
	handlers := web.Handlers()
	for at, handler := range handlers {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, at, nil))
		extension := path.Ext(at)
		if at == "/" {
			extension = ".html"
		}
		header := answer.Result().Header
		if got, want := header.Get("Content-Type"), types[extension]+"; charset=utf-8"; got != want {
			t.Errorf("%s: Content-Type %q; want %q", at, got, want)
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", at, policy)
		}
		again := httptest.NewRequest(http.MethodGet, at, nil)
		again.Header.Set("If-None-Match", header.Get("ETag"))
		second := httptest.NewRecorder()
		if handler.ServeHTTP(second, again); second.Code != http.StatusNotModified || second.Body.Len() > 0 {
			t.Errorf("%s again: %d with %d bytes; want %d without", at, second.Code, second.Body.Len(), http.StatusNotModified)
		}
	}
	if handlers["/"] == nil || handlers["/web/app.js"] == nil {
		t.Errorf("there are %d files; the page is missing", len(handlers))
	}
}

// The page opens, goes to each of its views, and speaks both languages.
func TestThePageOpens(t *testing.T) {
	p := open(t, serve(t, "--lock.version", "v2"), "#/")
	for _, view := range []string{"schedule", "table", "steps", ""} {
		p.click(`header a[href="#/` + view + `"]`)
		p.waitUntil(view+" is shown", `document.querySelector("main > *")`)
		p.waitUntil(view+" is marked", `document.querySelector("[aria-current=page]")?.hash === "#/`+view+`"`)
	}
	p.click("#lang")
	p.waitUntil("it is Chinese", `document.documentElement.lang === "zh" && document.querySelector("nav").innerText.includes("商店")`)
	p.key("?")
	p.shows("按键")
}
