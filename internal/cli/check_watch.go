package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"lockstep/internal/learn/workshop"
)

// settled is how long nothing may be written before a check: editors save in several steps.
const settled = 150 * time.Millisecond

// watchFrom checks an exercise, and again at each save. When it is done it goes on to the next. It ends with ctx, or when all is done.
func (d desk) watchFrom(ctx context.Context, e workshop.Exercise) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }()
	for {
		next, left, err := d.watchOne(ctx, watcher, e)
		if err != nil || !left {
			return err
		}
		e = next
	}
}

// watchOne checks one exercise until it is done, and gives the next.
func (d desk) watchOne(ctx context.Context, watcher *fsnotify.Watcher, e workshop.Exercise) (next workshop.Exercise, left bool, err error) {
	dir := filepath.Join(d.checker.Root, filepath.FromSlash(e.Dir()))
	if err := watcher.Add(dir); err != nil { // the directory: editors put another file in the place of the one that they write
		return next, false, err
	}
	defer func() { _ = watcher.Remove(dir) }()
	for {
		outcome, err := d.check(ctx, e)
		if ctx.Err() != nil {
			return next, false, nil // whoever watches ends it so
		}
		if err != nil {
			return next, false, err
		}
		if outcome.State == workshop.Done {
			p, err := d.store.Load()
			if err != nil {
				return next, false, err
			}
			next, left := firstNotDone(p)
			return next, left, nil
		}
		fmt.Fprintf(d.people, d.words.watching, e.Dir()+"/lock.go", d.typed, e.ID())
		if !awaitSave(ctx, watcher) {
			return next, false, nil
		}
	}
}

// awaitSave waits until Go code was written, and then until nothing more is. It reports whether that came before the end of ctx.
func awaitSave(ctx context.Context, watcher *fsnotify.Watcher) bool {
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-quiet:
			return true
		case event, open := <-watcher.Events:
			if !open {
				return false
			}
			if saved(event) {
				quiet = time.After(settled)
			}
		case err, open := <-watcher.Errors:
			if !open || err != nil {
				quiet = time.After(settled) // an event may have been missed: look again
			}
		}
	}
}

// saved reports whether an event is that of Go code that was written.
func saved(event fsnotify.Event) bool {
	if !strings.HasSuffix(event.Name, ".go") || event.Op == fsnotify.Chmod {
		return false
	}
	_, err := os.Stat(event.Name) // not what was only moved away
	return err == nil
}
