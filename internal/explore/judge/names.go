package judge

import (
	"slices"
	"strings"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// keyMentions reports whether a key of the lock, or one of its values, contains the name of a sale or of its process. With Setup.Sender it
// reports whether the values come from the sale's process.
func (st *commonState) keyMentions(k simredis.Key, s *Sale) bool {
	if st.Sender != nil {
		return st.Sender(k.Values) == s.Process
	}
	names := func(text string) bool { return st.textMentions(text, s) }
	return names(k.Name) || slices.ContainsFunc(k.Values, names)
}

// textMentions is like keyMentions, for a single text: the name of a key, or one value.
func (st *commonState) textMentions(text string, s *Sale) bool {
	if st.Sender != nil {
		return st.Sender([]string{text}) == s.Process
	}
	text, _, _ = strings.Cut(text, "\x00") // a sorted set's member ends there; its score follows
	return text == s.Process || strings.HasPrefix(text, s.Process+":") || containsName(text, s.owner) ||
		containsName(text, lock.Owner(s.Process))
}

// isUnattributed reports whether no single process has sent a key's values.
func (st *commonState) isUnattributed(k simredis.Key) bool {
	return st.Sender != nil && st.Sender(k.Values) == ""
}

// isHeldByProcess reports whether a lock belongs to a process as a whole: one of its values is the process's owner value, with or without a
// suffix.
func (st *commonState) isHeldByProcess(process string, k simredis.Key) bool {
	if st.Sender != nil {
		return st.Sender(k.Values) == process
	}
	owner := lock.Owner(process)
	return slices.ContainsFunc(k.Values, func(value string) bool { return value == owner || strings.HasPrefix(value, owner+":") })
}

// containsName reports whether text contains name as a whole word: the name A is not in AB.
func containsName(text, name string) bool {
	for name != "" {
		i := strings.Index(text, name)
		if i < 0 {
			return false
		}
		text = text[i+len(name):]
		if text == "" || !isAlphanumeric(text[0]) {
			return true
		}
	}
	return false
}

// isAlphanumeric reports whether b is an ASCII letter or digit.
func isAlphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
