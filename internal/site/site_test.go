package site

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/language"
)

// answers has small responses of a server by path.
var answers = map[string]string{
	"/seat": `{"locks":[{"name":"v3"}]}`, "/seat/code": `[]`, "/labs": `[]`,
	"/seat/table": "event: done\n", "/seat/steps": `[{"from":"v3","to":"v4"}]`, "/seat/steps/v3-v4": `{}`,
	"/course": `{"lessons":[{"number":3}]}`, "/course/03": `{}`, "/openapi.json": `{}`,
}

// newSite returns a site of a small module, and a counter of the programs that were compiled.
func newSite(t *testing.T) (s Site, compiled *int) {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"go.mod", "go.sum", "internal/a.go", "docs/course/a.md", "util/a.lua", "exercises/a.go", "go/lib/wasm/wasm_exec.js",
	} {
		writeFile(t, filepath.Join(root, name), name)
	}
	compiled = new(int)
	return Site{
		Root: root, Cache: filepath.Join(t.TempDir(), "kept"), Report: func(language.Text, time.Duration) {},
		Page: func(version string) map[string][]byte { return map[string][]byte{"index.html": []byte(version)} },
		Answers: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answer, ok := answers[r.URL.Path]; ok {
				fmt.Fprint(w, answer)
				return
			}
			http.NotFound(w, r)
		}),
		Record: func(context.Context) ([]byte, error) { return []byte("{}"), nil },
		Run: func(_ context.Context, _ []string, _ string, args ...string) (string, error) {
			if args[0] == "env" {
				return filepath.Join(root, "go") + "\n", nil
			}
			*compiled++
			return "", os.WriteFile(args[slices.Index(args, "-o")+1], []byte("a program"), 0o600)
		},
	}, compiled
}

func writeFile(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A site is built once from the same sources. A site of other sources is removed.
func TestSiteIsBuiltOnce(t *testing.T) {
	s, compiled := newSite(t)
	first, err := s.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Build(t.Context())
	if err != nil || again != first || *compiled != len(programs()) {
		t.Errorf("again: %s, %v, %d programs compiled; want %s and %d", again, err, *compiled, first, len(programs()))
	}
	writeFile(t, filepath.Join(s.Root, "internal", "a_test.go"), "a test is not part of it")
	if dir, ok, _ := s.Find(); !ok {
		t.Errorf("after a change of a test: it is not in %s", dir)
	}
	writeFile(t, filepath.Join(s.Root, "internal", "a.go"), "changed")
	if _, ok, _ := s.Find(); ok {
		t.Error("after a change of the sources the old one is taken for theirs")
	}
	if _, err := s.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadDir(s.Cache); err != nil || len(kept) != 1 {
		t.Errorf("the cache has %d sites, %v; want one", len(kept), err)
	}
}

// A browser caches the listed files, and the programs when they are requested.
func TestSiteListsItsFiles(t *testing.T) {
	s, _ := newSite(t)
	built, err := s.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := s.Copy(built, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "files.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	if err := json.Unmarshal(text, &files); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, "seat.packed", "shop.packed") {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{
		"index.html", "openapi.json", "web/recorded.json", "still/en/seat/steps/v3-v4.json", "still/zh/labs.json",
		"still/zh/course/03.json", "still/zh/seat/table.txt", "still/en/seat/code/v3.json",
	} {
		if !slices.Contains(files, name) {
			t.Errorf("%s is not among %v", name, files)
		}
	}
}

func TestFailedBuildLeavesNothingBehind(t *testing.T) {
	s, _ := newSite(t)
	s.Answers = http.NotFoundHandler()
	if _, err := s.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "/openapi.json: 404") {
		t.Errorf("%v; want which answer failed", err)
	}
	if kept, err := os.ReadDir(s.Cache); err != nil || len(kept) > 0 {
		t.Errorf("the cache has %d entries, %v; want none", len(kept), err)
	}
}

func TestHandlerServesTheSiteOnceItIsBuilt(t *testing.T) {
	dir, built := t.TempDir(), false
	writeFile(t, filepath.Join(dir, "keep.js"), "kept")
	handler := Handler("/tab/", "default-src 'self'", func() (string, bool) { return dir, built })
	ask := func() (int, string) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/tab/keep.js", http.NoBody))
		return answer.Code, answer.Body.String()
	}
	if status, text := ask(); status != http.StatusNotFound || strings.Count(text, "go run . site") != 2 {
		t.Errorf("%d %s; want in both languages how to get it", status, text)
	}
	built = true
	if status, text := ask(); status != http.StatusOK || text != "kept" {
		t.Errorf("%d %s; want the file", status, text)
	}
}

// There is no listing of a directory, nothing behind a dot, and no link that leads out.
func TestHandlerServesPublicFilesOnly(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"index.html": "the page", "web/app.js": "app", ".git/config": "secret", "web/.env": "secret", "sub/index.html": "sub",
	} {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	writeFile(t, filepath.Join(outside, "secret.txt"), "secret")
	for name, to := range map[string]string{"out.txt": filepath.Join(outside, "secret.txt"), "out": outside, "up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	const policy = "default-src 'self'"
	handler := Handler("/tab/", policy, func() (string, bool) { return dir, true })
	for path, want := range map[string]int{
		"": 200, "web/app.js": 200, "sub/": 200, "web/": 404, "web": 404, ".git/config": 404, ".git/": 404, "web/.env": 404,
		"out.txt": 404, "out/secret.txt": 404, "out/": 404, "up/": 404, "nothing": 404, "web/%2e%2e/%2e%2e/": 200, "..%2f": 200,
	} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/tab/"+path, http.NoBody))
		header := answer.Header()
		if answer.Code != want && (answer.Code/100 != 3 || want == 200) || strings.Contains(answer.Body.String(), "secret") {
			t.Errorf("%q: %d %s; want %d", path, answer.Code, answer.Body, want)
		}
		if header.Get("Content-Security-Policy") != policy || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%q: %v", path, header)
		}
	}
}
