package exercise

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"lockstep/internal/verdict"
)

// settled is how long nothing may be written before a check: editors save in several steps.
const settled = 150 * time.Millisecond

// Watch checks an exercise, and again at each save. When it is done it goes on to the next. It ends with ctx, or when all is done.
func (l Learner) Watch(ctx context.Context, e Exercise) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }()
	l.watches = true
	for {
		if done, err := l.watchOne(ctx, watcher, e); err != nil || !done {
			return err
		}
		if e, err = l.Choose(); err != nil {
			if errors.Is(err, ErrAllDone) {
				err = nil
			}
			return err
		}
	}
}

// watchOne checks one exercise until it is done, or ctx ends.
func (l Learner) watchOne(ctx context.Context, watcher *fsnotify.Watcher, e Exercise) (done bool, err error) {
	dir := filepath.Join(l.Checker.Root, filepath.FromSlash(e.Dir()))
	if err := watcher.Add(dir); err != nil { // the directory: editors put another file in the place of the one that they write
		return false, err
	}
	defer func() { _ = watcher.Remove(dir) }()
	for {
		outcome, err := l.Check(ctx, e)
		switch {
		case ctx.Err() != nil:
			return false, nil // whoever watches ends it so
		case err != nil:
			return false, err
		case outcome.State == verdict.Done:
			return true, nil
		}
		l.sayWatched(e)
		if !awaitSave(ctx, watcher) {
			return false, nil
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
