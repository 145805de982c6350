package config

import (
	"context"
	"os"
	"time"
)

// pollInterval is the time between two checks of a file. A changed file is read only after two equal checks, because an editor may empty or
// remove it before it writes.
const pollInterval = 250 * time.Millisecond

// Watch calls changed after each change of a file, and unreadable when the file can no longer be reached. It makes one call at a time,
// until ctx ends. It polls the file that the path leads to, through links and folders. The system's notifications would not suffice: they
// do not follow links, are limited in number, and do not come from every kind of mount.
func Watch(ctx context.Context, file string, changed func(), unreadable func(error)) {
	current := stat(file)
	if current.err != nil {
		unreadable(current.err)
	}
	last := current
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := stat(file)
		switch {
		case !now.equals(last):
			last = now
		case now.equals(current):
		case now.err != nil:
			current = now
			unreadable(now.err)
		default:
			current = now
			changed()
		}
	}
}

// fileState is the state of a file at one check.
type fileState struct {
	info os.FileInfo
	err  error
}

// stat returns the state of a file.
func stat(file string) (s fileState) {
	s.info, s.err = os.Stat(file)
	return s
}

// equals reports whether nobody has written, replaced or locked the file between two checks.
func (s fileState) equals(other fileState) bool {
	if s.err != nil || other.err != nil {
		return s.err != nil && other.err != nil
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() && s.info.ModTime().Equal(other.info.ModTime()) &&
		s.info.Mode() == other.info.Mode()
}
