package checker

import (
	"slices"
	"strings"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// hasName reports whether most masters hold something of the lock's that names a sale: a string, if only strings count.
func (c *scene) hasName(s *sale, onlyStrings bool) bool {
	n, masters := 0, c.masters()
	for _, m := range masters {
		if slices.ContainsFunc(m.Keys, func(k simredis.Key) bool { return (!onlyStrings || k.IsString()) && names(k, s) }) {
			n++
		}
	}
	return n > len(masters)/2
}

// hasLostString reports whether a string that named a sale is gone, and no other does. What else names it then may be a log.
func (c *scene) hasLostString(what Change, s *sale) bool {
	return !c.hasName(s, true) && slices.ContainsFunc(what.Before.Keys, func(k simredis.Key) bool {
		_, has := what.After.Key(k.Name)
		return !has && k.IsString() && names(k, s)
	})
}

// names reports whether a key of the lock's, or something in it, has the name of a sale, or of its process.
func names(k simredis.Key, s *sale) bool {
	is := func(text string) bool { return textNames(text, s) }
	return !k.IsShops() && (is(k.Name) || slices.ContainsFunc(k.Values, is))
}

func textNames(text string, s *sale) bool {
	text, _, _ = strings.Cut(text, "\x00") // of a member of a sorted set
	return text == s.Process || strings.HasPrefix(text, s.Process+":") || has(text, s.owner) || has(text, lock.Owner(s.Process))
}

// ownsProcess reports whether a lock is one of the whole process: one of its values is the process's name, with or without something
// behind it.
func ownsProcess(process string, k simredis.Key) bool {
	owner := lock.Owner(process)
	return slices.ContainsFunc(k.Values, func(value string) bool { return value == owner || strings.HasPrefix(value, owner+":") })
}

// has reports whether a text has a name in it that does not go on.
func has(text, name string) bool {
	for name != "" {
		i := strings.Index(text, name)
		if i < 0 {
			return false
		}
		text = text[i+len(name):]
		if text == "" || !alphanumeric(text[0]) {
			return true
		}
	}
	return false
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// checkNames sees, of a sale whose lock is not the lock's key but something that names it, that its name is gone. It is rid of its lock,
// unless it did that itself, or another sale of its process did when it had no more use for it.
func (c *scene) checkNames(what Change, by *sale) {
	for _, s := range c.sales {
		if !s.named || c.hasName(s, false) && !c.hasLostString(what, s) {
			continue
		}
		s.named = false
		if s.recordLoss(by != nil && by.Process == s.Process); by == s || !s.inside() {
			continue
		}
		s.bereft = true
		if by != nil {
			c.Report(anomaly.ForeignRelease, Removes, by.Name, s.Name)
		}
	}
}
