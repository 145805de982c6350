package judge

import (
	"slices"
	"strings"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// names reports whether a key of the lock's, or something in it, has the name of a sale, or of its process; or comes from that process.
func (c *scene) names(k simredis.Key, s *Sale) bool {
	if c.Sender != nil {
		return c.Sender(k.Values) == s.Process
	}
	is := func(text string) bool { return c.textNames(text, s) }
	return is(k.Name) || slices.ContainsFunc(k.Values, is)
}

func (c *scene) textNames(text string, s *Sale) bool {
	if c.Sender != nil {
		return c.Sender([]string{text}) == s.Process
	}
	text, _, _ = strings.Cut(text, "\x00") // of a member of a sorted set
	return text == s.Process || strings.HasPrefix(text, s.Process+":") || has(text, s.owner) || has(text, lock.Owner(s.Process))
}

// isUnnamed reports whether a key's values are such as nobody alone has sent.
func (c *scene) isUnnamed(k simredis.Key) bool { return c.Sender != nil && c.Sender(k.Values) == "" }

// ownsProcess reports whether a lock is one of the whole process: one of its values is the process's name, with or without something
// behind it.
func (c *scene) ownsProcess(process string, k simredis.Key) bool {
	if c.Sender != nil {
		return c.Sender(k.Values) == process
	}
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
