package checker

import (
	"slices"
	"strings"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// named reports whether most masters hold something of the lock's that names a sale.
func (c *Checker) named(a *engine.Actor) bool {
	n, masters := 0, c.x.Cluster.Masters()
	for _, s := range masters {
		if slices.ContainsFunc(s.Holds.Keys, func(k simredis.Key) bool { return !k.IsShops() && names(k, a) }) {
			n++
		}
	}
	return n > len(masters)/2
}

// names reports whether a key, or something in it, has the name of an actor's sale, or of its process.
func names(k simredis.Key, a *engine.Actor) bool {
	is := func(text string) bool { return textNames(text, a) }
	return is(k.Name) || slices.ContainsFunc(k.Values, is)
}

func textNames(text string, a *engine.Actor) bool {
	text, _, _ = strings.Cut(text, "\x00") // of a member of a sorted set
	return text == a.Process.Name || strings.HasPrefix(text, a.Process.Name+":") ||
		has(text, lock.Owner(a.Sale)) || has(text, lock.Owner(a.Process.Name))
}

// has reports whether a text has a name in it that does not go on.
func has(text, name string) bool {
	for {
		i := strings.Index(text, name)
		if i < 0 {
			return false
		}
		text = text[i+len(name):]
		if text == "" || !alphanumeric(text[0]) {
			return true
		}
	}
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// seeNames sees, of a sale whose lock is not the key lock.Key but something that names it, that its name is gone. It is rid of its lock,
// unless it did that itself.
func (c *Checker) seeNames(by *engine.Actor) {
	for _, s := range c.sales {
		if !s.named || c.named(s.actor) {
			continue
		}
		s.named = false
		given := by != nil && by.Process == s.actor.Process
		if s.recordLoss(given); given || !s.inside() {
			continue
		}
		s.bereft = true
		if by != nil {
			c.report(anomaly.ForeignRelease, "%s removes %s's lock", "%s 删除了 %s 的锁", by.Name, s.actor.Name)
		}
	}
}
