package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/web"
)

// mostBytes bounds what a browser is sent, compressed, for every view of the served page together: the first view alone is to stay below
// 140 kB. Not counted are the parts of lessons, what saves a run, and the code of the tab's own build.
const mostBytes = 130_000

func TestPageStaysBelowItsSize(t *testing.T) {
	source, sent := 0, 0
	for at, handler := range web.Handlers() {
		plain := answerOf(handler, http.MethodGet, at, nil)
		packed := answerOf(handler, http.MethodGet, at, http.Header{"Accept-Encoding": {"deflate, gzip;q=0.8, br"}})
		t.Logf("%6d %6d %s", plain.Body.Len(), packed.Body.Len(), at)
		if at == "/web/views/course_parts.js" || strings.HasPrefix(at, "/web/documents/") || strings.HasPrefix(at, "/web/tab/") {
			continue
		}
		source += plain.Body.Len()
		sent += packed.Body.Len()
	}
	if t.Logf("%6d %6d in all", source, sent); sent > mostBytes {
		t.Errorf("a browser is sent %d bytes; want no more than %d", sent, mostBytes)
	}
}

func answerOf(handler http.Handler, method, at string, header http.Header) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, at, nil)
	if header != nil {
		request.Header = header
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

// A file is compressed for those who take it so, and is the same file.
func TestFilesAreCompressed(t *testing.T) {
	handler := web.Handlers()["/web/app.js"]
	plain := answerOf(handler, http.MethodGet, "/web/app.js", nil)
	for accept, coding := range map[string]string{"gzip": "gzip", "br , gzip ; q=0.5": "gzip", "gzip;q=0": "", "br": "", "": ""} {
		header := http.Header{"Accept-Encoding": {accept}}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			answer := answerOf(handler, method, "/web/app.js", header)
			have := answer.Header()
			if have.Get("Content-Encoding") != coding || have.Get("Vary") != "Accept-Encoding" || have.Get("ETag") != plain.Header().Get("ETag") {
				t.Errorf("%s, Accept-Encoding %q: %v", method, accept, have)
			}
			switch text := unpacked(t, answer.Body.Bytes(), coding); {
			case method == http.MethodHead && text != "":
				t.Errorf("HEAD is answered with %d bytes", len(text))
			case method == http.MethodGet && text != plain.Body.String():
				t.Errorf("Accept-Encoding %q: %d bytes; want the %d of the file", accept, len(text), plain.Body.Len())
			case method == http.MethodGet && have.Get("Content-Length") != strconv.Itoa(answer.Body.Len()):
				t.Errorf("Content-Length is %s; want %d", have.Get("Content-Length"), answer.Body.Len())
			}
		}
	}
	known := answerOf(handler, http.MethodGet, "/web/app.js", http.Header{
		"Accept-Encoding": {"gzip"}, "If-None-Match": {`"other", ` + plain.Header().Get("ETag")},
	})
	if known.Code != http.StatusNotModified || known.Body.Len() > 0 || known.Header().Get("Content-Encoding") != "" {
		t.Errorf("what the browser has: %d with %d bytes, %v", known.Code, known.Body.Len(), known.Header())
	}
	part := answerOf(handler, http.MethodGet, "/web/app.js", http.Header{"Accept-Encoding": {"gzip"}, "Range": {"bytes=0-9"}})
	if text := unpacked(t, part.Body.Bytes(), "gzip"); part.Code != http.StatusOK || text != plain.Body.String() {
		t.Errorf("a part of it: %d with %d bytes; want the whole file", part.Code, len(text))
	}
}

func unpacked(t *testing.T, body []byte, coding string) string {
	t.Helper()
	if coding == "" || len(body) == 0 {
		return string(body)
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEachFileIsServed(t *testing.T) {
	types := map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
	handlers := web.Handlers()
	for at, handler := range handlers {
		answer := answerOf(handler, http.MethodGet, at, nil)
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
		second := answerOf(handler, http.MethodGet, at, http.Header{"If-None-Match": {header.Get("ETag")}})
		if second.Code != http.StatusNotModified || second.Body.Len() > 0 {
			t.Errorf("%s again: %d with %d bytes; want %d without", at, second.Code, second.Body.Len(), http.StatusNotModified)
		}
	}
	if handlers["/"] == nil || handlers["/web/app.js"] == nil {
		t.Errorf("there are %d files; the page is missing", len(handlers))
	}
}

// The page opens, goes to each of its views, and speaks both languages.
func TestPageOpensInBothLanguages(t *testing.T) {
	p := open(t, serve(t, "--lock.version", "v2")+"/#/")
	for _, view := range []string{"schedule", "course", "locks", "labs", ""} {
		p.click(`header a[href="#/` + view + `"]`)
		p.waitUntil(view+" is shown", `document.querySelector("main > *")`)
		p.waitUntil(view+" is marked", `document.querySelector("[aria-current=page]")?.hash === "#/`+view+`"`)
	}
	for from, to := range map[string]string{ // old addresses, also those that somebody has kept
		"#/campaign": "#/schedule/v0?mode=break&anomaly=lost-update&campaign=1", "#/explore": "#/schedule/v2?in=--faults+expiry=1&search=1",
		"#/explore/v3?in=--faults+expiry=1&each=true": "#/schedule/v3?in=--faults+expiry=1&search=each",
		"#/explore/v3?anomaly=stuck":                  "#/schedule/v3?anomaly=stuck&search=1",
	} {
		eval[bool](p, `location.hash = "`+from+`", true`)
		p.waitUntil(from+" leads to "+to, `document.querySelector(".drawing") && location.hash === "`+to+`"`)
	}
	for address, view := range map[string]string{"#/campaign": "schedule", "#/explore": "schedule", "#/steps": "locks", "#/table": "locks",
		"#/room": "course", "#/join": "course"} {
		eval[bool](p, `location.hash = "`+address+`", true`) // each belongs to one of the five
		p.waitUntil(address+" is in "+view, `document.querySelector("[aria-current=page]")?.hash === "#/`+view+`"`)
	}
	p.click("#lang")
	p.waitUntil("it is Chinese", `document.documentElement.lang === "zh" && document.querySelector("nav").innerText.includes("商店")`)
	p.key("?")
	p.waitForText("快捷键")
}
