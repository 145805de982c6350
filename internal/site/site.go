// Package site builds the page for a host that has files alone: the page's own files, two programs in WebAssembly for its workers, and as
// files whatever a server answers always alike. What was built is kept, by a fingerprint of what it was built from.
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

// Site is what one is built from.
type Site struct {
	Root    string                                    // of the module
	Kept    string                                    // the directory where what was built is kept
	Page    func(version string) map[string][]byte    // the page's own files
	Answers http.Handler                              // what a server answers always alike, as Addresses asks
	Record  func(ctx context.Context) ([]byte, error) // records a burst, which a tab shows while its programs are loaded
	Tell    func(what language.Text, d time.Duration) // is told what has been done, and how long it took
	// Run runs a program in Root, with these variables beside the environment, and gives what it prints to standard output.
	Run func(ctx context.Context, env []string, program string, args ...string) (string, error)
}

// program is one of the workers'.
type program struct {
	name string        // the name of its package below internal/site
	done language.Text // that it is compiled
}

// programs lists them.
func programs() []program {
	return []program{
		{"seat", language.Both("the scheduler's seat is compiled", "调度席已编译")},
		{"shop", language.Both("the shop is compiled", "商店已编译")},
	}
}

// small makes programs smaller: gin goes without a format that nobody asks for, and code that nobody waits for is not inlined.
func small() []string {
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

// filesFile lists the site's files, for a browser that keeps them.
const filesFile = "files.json"

// Find returns the directory of the site that was built from these sources; none, if it was not.
func (s Site) Find() (dir string, there bool, err error) {
	version, err := s.version()
	if err != nil {
		return "", false, err
	}
	dir = filepath.Join(s.Kept, version)
	_, err = os.Stat(filepath.Join(dir, filesFile))
	return dir, err == nil, nil
}

// Build returns the directory of the site, which it builds unless that was done before. Others that are kept are removed.
func (s Site) Build(ctx context.Context) (dir string, err error) {
	dir, there, err := s.Find()
	if err != nil || there {
		return dir, err
	}
	if err := os.MkdirAll(s.Kept, 0o755); err != nil { //nolint:gosec // it is for everybody to read
		return "", err
	}
	half, err := os.MkdirTemp(s.Kept, "half-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(half)) }()
	if err := s.build(ctx, half, filepath.Base(dir)); err != nil {
		return "", err
	}
	if err := s.forget(half); err != nil {
		return "", err
	}
	err = os.Rename(half, dir)
	if _, there, found := s.Find(); found == nil && there { // somebody else may have built it meanwhile
		return dir, nil
	}
	return dir, err
}

// forget removes what is kept of other sources.
func (s Site) forget(but string) error {
	old, err := os.ReadDir(s.Kept)
	for _, entry := range old {
		if dir := filepath.Join(s.Kept, entry.Name()); dir != but && !strings.HasPrefix(entry.Name(), "half-") {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

func (s Site) build(ctx context.Context, dir, version string) error {
	files := s.Page(version)
	for _, p := range programs() {
		begun := time.Now()
		packed, err := s.compile(ctx, dir, p)
		if err != nil {
			return err
		}
		files[p.name+".packed"] = packed
		s.Tell(p.done, time.Since(begun))
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
	begun := time.Now()
	if err := s.answer(ctx, files); err != nil {
		return err
	}
	s.Tell(language.Both("the table, the steps and the course are written", "总表、步骤和课程已写好"), time.Since(begun))
	var names []string
	for name := range files {
		if !strings.HasSuffix(name, ".packed") { // a browser keeps them when they are asked for
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if files[filesFile], err = json.Marshal(append(names, ".")); err != nil {
		return err
	}
	return write(dir, files)
}

// compile compiles a program, and packs it.
func (s Site) compile(ctx context.Context, dir string, p program) ([]byte, error) {
	file := filepath.Join(dir, p.name+".wasm")
	args := append(append([]string{"build", "-o", file}, small()...), "./internal/site/"+p.name)
	_, err := s.Run(ctx, []string{"GOOS=js", "GOARCH=wasm", "GOWORK=off"}, "go", args...)
	if err != nil {
		return nil, err
	}
	code, err := os.ReadFile(file) //nolint:gosec // it was written here
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

func write(dir string, files map[string][]byte) error {
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // it is for everybody to read
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil { //nolint:gosec // it is for everybody to read
			return err
		}
	}
	return nil
}

// Copy copies what was built into another directory, and says how many bytes it has.
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
		return 0, fmt.Errorf("read what was built: %w", err)
	}
	return size, write(to, files)
}
