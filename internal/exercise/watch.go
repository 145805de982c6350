package exercise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"lockstep/internal/verdict"
)

// settleTime is the time that a check waits after the last write, because editors save in several steps.
const settleTime = 150 * time.Millisecond

// Watch checks an exercise at once and after each save. When it is done, Watch goes on to the next one. It returns when ctx ends or all
// exercises are done.
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
		fmt.Fprintln(l.People)
		l.sayNextCheck()
	}
}

// watchOne checks one exercise until it is done or ctx ends.
func (l Learner) watchOne(ctx context.Context, watcher *fsnotify.Watcher, e Exercise) (done bool, err error) {
	dir := filepath.Join(l.Checker.Root, filepath.FromSlash(e.Dir()))
	if err := watcher.Add(dir); err != nil { // Watch the directory, because editors replace the file.
		return false, err
	}
	defer func() { _ = watcher.Remove(dir) }()
	for {
		outcome, err := l.Check(ctx, e)
		switch {
		case ctx.Err() != nil:
			return false, nil // The learner ends the watch this way.
		case err != nil:
			return false, err
		case outcome.State == verdict.Done:
			return true, nil
		}
		l.sayWatched(e)
		if !awaitSave(ctx, watcher) {
			return false, nil
		}
		l.sayNextCheck()
	}
}

// awaitSave waits until Go code was written and then nothing for settleTime. It returns false if ctx ends first.
func awaitSave(ctx context.Context, watcher *fsnotify.Watcher) bool {
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-quiet:
			return true
		case event, ok := <-watcher.Events:
			if !ok {
				return false
			}
			if isSave(event) {
				quiet = time.After(settleTime)
			}
		case err, ok := <-watcher.Errors:
			if !ok || err != nil {
				quiet = time.After(settleTime) // An event may have been missed, so check again.
			}
		}
	}
}

// isSave reports whether an event says that a Go file was written.
func isSave(event fsnotify.Event) bool {
	if !strings.HasSuffix(event.Name, ".go") || event.Op == fsnotify.Chmod {
		return false
	}
	_, err := os.Stat(event.Name) // A file that was moved away no longer exists.
	return err == nil
}
