package config

import (
	"context"
	"os"
	"time"
)

// lookEvery is how often a file is looked at. It must be alike twice before it is read: an editor may empty it, or remove it, before it
// writes.
const lookEvery = 250 * time.Millisecond

// Watch calls changed after each change of a file, and unreadable when it cannot be reached any more; one call at a time, until ctx ends.
// It looks at what the path leads to, through all links and folders, and so needs nothing of the system's notifications: those follow no
// link, are bounded in number, and do not come from every kind of mount.
func Watch(ctx context.Context, file string, changed func(), unreadable func(error)) {
	inForce := look(file)
	if inForce.err != nil {
		unreadable(inForce.err)
	}
	last := inForce
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := look(file)
		switch {
		case !now.isLike(last):
			last = now
		case now.isLike(inForce):
		case now.err != nil:
			inForce = now
			unreadable(now.err)
		default:
			inForce = now
			changed()
		}
	}
}

// sight is a file as it was at one look.
type sight struct {
	info os.FileInfo
	err  error
}

func look(file string) (s sight) {
	s.info, s.err = os.Stat(file)
	return s
}

// isLike reports whether nobody wrote, replaced or locked the file between two looks.
func (s sight) isLike(other sight) bool {
	if s.err != nil || other.err != nil {
		return s.err != nil && other.err != nil
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() && s.info.ModTime().Equal(other.info.ModTime()) &&
		s.info.Mode() == other.info.Mode()
}
