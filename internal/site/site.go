// Package site builds the page so that a static web host can serve it: the page's own files, two WebAssembly programs for its workers, and
// files with those responses of a server that never change. A built site is cached under a fingerprint of its sources. Begin with
// Site.Build.
package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/internal/language"
)

// Site configures how the site is built.
type Site struct {
	Root    string                                    // root directory of the module
	Cache   string                                    // directory of built sites
	Page    func(version string) map[string][]byte    // returns the page's own files by name
	Answers http.Handler                              // answers the requests whose responses become files
	Record  func(ctx context.Context) ([]byte, error) // records a burst, which a tab shows while its programs are loaded
	Report  func(done language.Text, d time.Duration) // called after each part with what was done, and how long it took
	// Run runs a program in Root, with env added to the environment, and returns its standard output.
	Run func(ctx context.Context, env []string, program string, args ...string) (string, error)
}

// program is a program of the workers.
type program struct {
	name string        // name of its package below internal/site
	done language.Text // report that it is compiled
}

// programs returns the programs of the workers.
func programs() []program {
	return []program{
		{"seat", language.Both("the scheduler's seat is compiled", "调度席已编译")},
		{"shop", language.Both("the shop is compiled", "商店已编译")},
	}
}

// buildFlags returns flags that make programs smaller: gin goes without MessagePack, and code that needs no speed is not inlined.
func buildFlags() []string {
	flags := []string{"-trimpath", "-ldflags=-s -w", "-tags=nomsgpack"}
	for _, code := range []string{
		"github.com/redis/go-redis/...", "github.com/spf13/...", "github.com/rivo/...", "github.com/yuin/gopher-lua/parse",
		"compress/...", "crypto/...", "encoding/...", "flag", "fmt", "hash/...", "html/...", "log/...", "math/big", "mime/...", "net/...",
		"os/...", "reflect", "regexp/...", "text/...", "vendor/...", "go/...", "golang.org/x/...", "google.golang.org/...",
		"github.com/gin-gonic/...", "github.com/quic-go/...", "github.com/prometheus/...", "github.com/goccy/...", "github.com/pelletier/...",
		"github.com/go-playground/...", "github.com/go-json-experiment/...", "github.com/gabriel-vasile/...", "go.mongodb.org/...",
		"go.yaml.in/...", "lockstep/internal/lab", "lockstep/internal/fault/...", "lockstep/internal/server", "lockstep/internal/tab",
	} {
		flags = append(flags, "-gcflags="+code+"=-l")
	}
	return flags
}

// filesFile lists the site's files, which a browser caches.
const filesFile = "files.json"

// Find returns the directory of the site that was built from the present sources, and whether it was built.
func (s Site) Find() (dir string, ok bool, err error) {
	version, err := s.version()
	if err != nil {
		return "", false, err
	}
	dir = filepath.Join(s.Cache, version)
	_, err = os.Stat(filepath.Join(dir, filesFile))
	return dir, err == nil, nil
}

// Build builds the site unless it is cached, and returns its directory. It removes sites of other sources from the cache.
func (s Site) Build(ctx context.Context) (dir string, err error) {
	dir, ok, err := s.Find()
	if err != nil || ok {
		return dir, err
	}
	if err := os.MkdirAll(s.Cache, 0o755); err != nil { //nolint:gosec // The site is public.
		return "", err
	}
	unfinished, err := os.MkdirTemp(s.Cache, unfinishedPrefix)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(unfinished)) }()
	if err := s.build(ctx, unfinished, filepath.Base(dir)); err != nil {
		return "", err
	}
	if err := s.removeOthers(unfinished); err != nil {
		return "", err
	}
	err = os.Rename(unfinished, dir)
	if _, ok, findErr := s.Find(); findErr == nil && ok { // Another process may have built it in the meantime.
		return dir, nil
	}
	return dir, err
}

// unfinishedPrefix begins the names of directories in which a site is being built.
const unfinishedPrefix = "half-"

// removeOthers removes every entry of the cache except keep and the directories in which sites are being built.
func (s Site) removeOthers(keep string) error {
	old, err := os.ReadDir(s.Cache)
	for _, entry := range old {
		if dir := filepath.Join(s.Cache, entry.Name()); dir != keep && !strings.HasPrefix(entry.Name(), unfinishedPrefix) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// build builds the site into the directory dir.
func (s Site) build(ctx context.Context, dir, version string) error {
	files := s.Page(version)
	for _, p := range programs() {
		start := time.Now()
		packed, err := s.compile(ctx, dir, p)
		if err != nil {
			return err
		}
		files[p.name+".packed"] = packed
		s.Report(p.done, time.Since(start))
	}
	root, err := s.Run(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	if files["web/tab/wasm_exec.js"], err = os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js")); err != nil {
		return err
	}
	if files["web/recorded.json"], err = s.Record(ctx); err != nil {
		return err
	}
	start := time.Now()
	if err := s.addAnswers(ctx, files); err != nil {
		return err
	}
	s.Report(language.Both("the table, the steps and the course are written", "总表、各版的改动和课程已写好"), time.Since(start))
	var names []string
	for name := range files {
		if !strings.HasSuffix(name, ".packed") { // A browser caches programs when they are requested.
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if files[filesFile], err = json.Marshal(append(names, ".")); err != nil {
		return err
	}
	return write(dir, files)
}

// compile compiles a program, and compresses it.
func (s Site) compile(ctx context.Context, dir string, p program) ([]byte, error) {
	file := filepath.Join(dir, p.name+".wasm")
	args := append(append([]string{"build", "-o", file}, buildFlags()...), "./internal/site/"+p.name)
	_, err := s.Run(ctx, []string{"GOOS=js", "GOARCH=wasm", "GOWORK=off"}, "go", args...)
	if err != nil {
		return nil, err
	}
	code, err := os.ReadFile(file) //nolint:gosec // The go command has just written it.
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = writer.Write(code)
	err = errors.Join(err, writer.Close(), os.Remove(file))
	return packed.Bytes(), err
}

// write writes files, given by path, into a directory.
func write(dir string, files map[string][]byte) error {
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // The site is public.
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil { //nolint:gosec // The site is public.
			return err
		}
	}
	return nil
}

// Copy copies a built site into another directory, and returns its size in bytes.
func (Site) Copy(from, to string) (size int64, err error) {
	files := map[string][]byte{}
	err = fs.WalkDir(os.DirFS(from), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		size += int64(len(files[name]))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the built site: %w", err)
	}
	return size, write(to, files)
}
