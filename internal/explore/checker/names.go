package checker

import (
	"slices"
	"strings"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// names reports whether a key of the lock's, or something in it, has the name of a sale, or of its process.
func names(k simredis.Key, s *Sale) bool {
	is := func(text string) bool { return textNames(text, s) }
	return is(k.Name) || slices.ContainsFunc(k.Values, is)
}

func textNames(text string, s *Sale) bool {
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
