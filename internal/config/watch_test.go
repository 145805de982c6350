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

// watching is a folder of a test's own, whose file config.yaml is watched in virtual time.
type watching struct {
	*testing.T
	dir    string
	wrote  int
	mu     sync.Mutex
	read   []string // what the file said, each time it had changed
	failed []error
}

func (w *watching) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watching) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *watching) write(name, text string) {
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o700))
	w.must(os.WriteFile(w.path(name), []byte(text), 0o600))
	w.wrote++
	when := time.Now().Add(time.Duration(w.wrote) * time.Second) // virtual time passes, and the system's clock does not
	w.must(os.Chtimes(w.path(name), when, when))
}

// said returns what was read until now, and what failed.
func (w *watching) said() (read []string, failed []error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.read), slices.Clone(w.failed)
}

// link makes name lead to target, as ln -sfn does.
func (w *watching) link(target, name string) {
	w.must(os.Symlink(target, w.path("new")))
	w.must(os.Rename(w.path("new"), w.path(name)))
}

// Whatever lies between the path and the file, a change of it is seen, once.
func TestWatch(t *testing.T) {
	const file = "config.yaml"
	for what, c := range map[string]struct{ make, change func(w *watching) }{
		"written": {
			func(w *watching) { w.write(file, "old") },
			func(w *watching) { w.write(file, "new") },
		},
		"written to the same length": {
			func(w *watching) { w.write(file, "one") },
			func(w *watching) { w.write(file, "new") },
		},
		"removed and written, as by git": {
			func(w *watching) { w.write(file, "old") },
			func(w *watching) { w.must(os.Remove(w.path(file))); w.write(file, "new") },
		},
		"replaced, as by sed -i": {
			func(w *watching) { w.write(file, "old") },
			func(w *watching) { w.write("sedX", "new"); w.must(os.Rename(w.path("sedX"), w.path(file))) },
		},
		"emptied, and written later": {
			func(w *watching) { w.write(file, "old") },
			func(w *watching) { w.write(file, ""); time.Sleep(200 * time.Millisecond); w.write(file, "new") },
		},
		"a ConfigMap": {
			func(w *watching) {
				w.write("v1/"+file, "old")
				w.write("v2/"+file, "new")
				w.link("v1", "..data")
				w.link("..data/"+file, file)
			},
			func(w *watching) { w.link("v2", "..data") },
		},
		"a ConfigMap whose old data are removed": {
			func(w *watching) {
				w.write("v1/"+file, "old")
				w.link("v1", "..data")
				w.link("..data/"+file, file)
			},
			func(w *watching) {
				w.write("v2/"+file, "new")
				w.link("v2", "..data")
				w.must(os.RemoveAll(w.path("v1")))
			},
		},
		"sed -i on a link's target": {
			func(w *watching) { w.write("etc/real", "old"); w.link("etc/real", file) },
			func(w *watching) {
				w.write("etc/sedX", "new")
				w.must(os.Rename(w.path("etc/sedX"), w.path("etc/real")))
			},
		},
		"a chain of links": {
			func(w *watching) {
				w.write("a/real", "old")
				w.link("a/real", "b")
				w.link(w.path("b"), "c")
				w.link("c", file)
			},
			func(w *watching) { w.write("z", "new"); w.link("z", "b") },
		},
		"the link itself": {
			func(w *watching) { w.write("a", "old"); w.write("b", "new"); w.link("a", file) },
			func(w *watching) { w.link("b", file) },
		},
		"the folder of the target": {
			func(w *watching) { w.write("a/real", "old"); w.link("a/real", file) },
			func(w *watching) { w.must(os.Rename(w.path("a"), w.path("b"))); w.write("a/real", "new") },
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watching{T: t, dir: t.TempDir()}
				if err := os.Symlink("none", w.path("probe")); err != nil {
					t.Skip("no symbolic links here: ", err)
				}
				c.make(w)
				w.watch(file, func() {
					c.change(w)
					time.Sleep(time.Second)
				})
				if !slices.Equal(w.read, []string{"new"}) || len(w.failed) > 0 {
					t.Errorf("it was read %q, %v; want the new one, once", w.read, w.failed)
				}
			})
		})
	}
}

// watch watches while do does.
func (w *watching) watch(file string, do func()) {
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
	synctest.Wait() // it has looked once
	do()
	end()
	<-ended
}

// A file that is gone, or its folder, is said so, once; as soon as it is back, it is read.
func TestWatchAFileThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watching{T: t, dir: t.TempDir()}
		w.write("shop/config.yaml", "old")
		w.watch("shop/config.yaml", func() {
			w.must(os.Rename(w.path("shop"), w.path("away")))
			time.Sleep(time.Minute)
			if read, failed := w.said(); len(failed) != 1 || !errors.Is(failed[0], fs.ErrNotExist) || len(read) > 0 {
				t.Errorf("%v, and it was read %q; want that it is gone, once", failed, read)
			}
			w.must(os.Rename(w.path("away"), w.path("shop")))
			time.Sleep(time.Second)
		})
		if !slices.Equal(w.read, []string{"old"}) || len(w.failed) != 1 {
			t.Errorf("%v, and it was read %q; want it once, when it is back", w.failed, w.read)
		}
	})
}
