package config

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a file must rest before it is read: an editor may empty it, or remove it, before it writes.
const settle = 200 * time.Millisecond

// Watch calls changed some time after each change of file, one call at a time, until ctx ends. It watches the folder, for a
// file that is replaced is another file (viper's own watch ends when the file is removed).
func Watch(ctx context.Context, file string, changed func()) error {
	file = filepath.Clean(file)
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		err = watcher.Add(filepath.Dir(file))
	}
	if err != nil {
		return fmt.Errorf("watching %s: %w", file, err)
	}
	defer func() { _ = watcher.Close() }() // it only read
	rested := make(<-chan time.Time)
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if filepath.Clean(event.Name) == file && !event.Has(fsnotify.Chmod) {
				rested = time.After(settle)
			}
		case err := <-watcher.Errors:
			return fmt.Errorf("watching %s: %w", file, err)
		case <-rested:
			changed()
		}
	}
}
