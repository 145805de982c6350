package config_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/config"
)

// watchTest is a test with a directory of its own, in which a file is watched in virtual time.
type watchTest struct {
	*testing.T
	dir    string
	wrote  int
	mu     sync.Mutex
	read   []string // contents of the file after each change
	failed []error
}

func (w *watchTest) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watchTest) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *watchTest) write(name, text string) {
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o700))
	w.must(os.WriteFile(w.path(name), []byte(text), 0o600))
	w.wrote++
	when := time.Now().Add(time.Duration(w.wrote) * time.Second) // the file system's clock does not follow virtual time
	w.must(os.Chtimes(w.path(name), when, when))
}

// results returns the contents that were read so far, and the errors.
func (w *watchTest) results() (read []string, failed []error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.read), slices.Clone(w.failed)
}

// makeLink makes name a symbolic link to target, as ln -sfn does.
func (w *watchTest) makeLink(target, name string) {
	w.must(os.Symlink(target, w.path("new")))
	w.must(os.Rename(w.path("new"), w.path(name)))
}

// Each change of the file is reported once, whatever links and directories lie between the path and the file.
func TestWatchReportsEachChangeOnce(t *testing.T) {
	const file = "config.yaml"
	for what, c := range map[string]struct{ make, change func(w *watchTest) }{
		"written": {
			func(w *watchTest) { w.write(file, "old") },
			func(w *watchTest) { w.write(file, "new") },
		},
		"written to the same length": {
			func(w *watchTest) { w.write(file, "one") },
			func(w *watchTest) { w.write(file, "new") },
		},
		"removed and written, as by git": {
			func(w *watchTest) { w.write(file, "old") },
			func(w *watchTest) { w.must(os.Remove(w.path(file))); w.write(file, "new") },
		},
		"replaced, as by sed -i": {
			func(w *watchTest) { w.write(file, "old") },
			func(w *watchTest) { w.write("sedX", "new"); w.must(os.Rename(w.path("sedX"), w.path(file))) },
		},
		"emptied, and written later": {
			func(w *watchTest) { w.write(file, "old") },
			func(w *watchTest) { w.write(file, ""); time.Sleep(200 * time.Millisecond); w.write(file, "new") },
		},
		"a ConfigMap": {
			func(w *watchTest) {
				w.write("v1/"+file, "old")
				w.write("v2/"+file, "new")
				w.makeLink("v1", "..data")
				w.makeLink("..data/"+file, file)
			},
			func(w *watchTest) { w.makeLink("v2", "..data") },
		},
		"a ConfigMap whose old data are removed": {
			func(w *watchTest) {
				w.write("v1/"+file, "old")
				w.makeLink("v1", "..data")
				w.makeLink("..data/"+file, file)
			},
			func(w *watchTest) {
				w.write("v2/"+file, "new")
				w.makeLink("v2", "..data")
				w.must(os.RemoveAll(w.path("v1")))
			},
		},
		"sed -i on a link's target": {
			func(w *watchTest) { w.write("etc/real", "old"); w.makeLink("etc/real", file) },
			func(w *watchTest) {
				w.write("etc/sedX", "new")
				w.must(os.Rename(w.path("etc/sedX"), w.path("etc/real")))
			},
		},
		"a chain of links": {
			func(w *watchTest) {
				w.write("a/real", "old")
				w.makeLink("a/real", "b")
				w.makeLink(w.path("b"), "c")
				w.makeLink("c", file)
			},
			func(w *watchTest) { w.write("z", "new"); w.makeLink("z", "b") },
		},
		"the link itself": {
			func(w *watchTest) { w.write("a", "old"); w.write("b", "new"); w.makeLink("a", file) },
			func(w *watchTest) { w.makeLink("b", file) },
		},
		"the folder of the target": {
			func(w *watchTest) { w.write("a/real", "old"); w.makeLink("a/real", file) },
			func(w *watchTest) { w.must(os.Rename(w.path("a"), w.path("b"))); w.write("a/real", "new") },
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watchTest{T: t, dir: t.TempDir()}
				if err := os.Symlink("none", w.path("probe")); err != nil {
					t.Skip("no symbolic links here: ", err)
				}
				c.make(w)
				w.watch(file, func() {
					c.change(w)
					time.Sleep(time.Second)
				})
				if !slices.Equal(w.read, []string{"new"}) || len(w.failed) > 0 {
					t.Errorf("read %q, errors %v; want the new contents, once", w.read, w.failed)
				}
			})
		})
	}
}

// watch watches a file while do runs.
func (w *watchTest) watch(file string, do func()) {
	ctx, end := context.WithCancel(w.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		config.Watch(ctx, w.path(file), func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			text, err := os.ReadFile(w.path(file))
			w.read = append(w.read, string(text))
			if err != nil {
				w.Error(err)
			}
		}, func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.failed = append(w.failed, err)
		})
	}()
	synctest.Wait() // Watch has read the file once
	do()
	end()
	<-ended
}

// A file that is missing, or whose directory is, is reported once. When it is back, it is read.
func TestWatchReportsMissingFileOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watchTest{T: t, dir: t.TempDir()}
		w.write("shop/config.yaml", "old")
		w.watch("shop/config.yaml", func() {
			w.must(os.Rename(w.path("shop"), w.path("away")))
			time.Sleep(time.Minute)
			if read, failed := w.results(); len(failed) != 1 || !errors.Is(failed[0], fs.ErrNotExist) || len(read) > 0 {
				t.Errorf("errors %v, read %q; want one ErrNotExist, and nothing read", failed, read)
			}
			w.must(os.Rename(w.path("away"), w.path("shop")))
			time.Sleep(time.Second)
		})
		if !slices.Equal(w.read, []string{"old"}) || len(w.failed) != 1 {
			t.Errorf("errors %v, read %q; want one read, when the file is back", w.failed, w.read)
		}
	})
}
