package server

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lockstep/internal/explore/simredis"
)

// sentValues recognises the random values that clients send, and gives each a name that is the same in every run: A1 is the first random
// value that process A has sent. The names replace the values in drawings and in the hashes of states; Redis holds the values themselves.
type sentValues struct {
	key         string               // key of the lock; its parts are never random
	scripts     map[string]string    // known scripts by SHA-1; parts of their texts are never random
	names       map[string]valueName // names by random value
	byLength    []string             // random values, the longest first
	counts      map[string]int       // number of random values so far, by process
	senders     map[string]string    // sole sender of each word; "": several processes have sent it
	directWords []string             // words passed to Do; their parts are never random
}

// valueName names a random value: the process that sent it first, and its 1-based position among that process's random values.
type valueName struct {
	process string // name of the process
	number  int    // 1-based position
}

// String formats the name, as in A1.
func (n valueName) String() string { return fmt.Sprint(n.process, n.number) }

// newSentValues returns a sentValues without random values, for a lock with this key. It retains the map scripts, to which the caller may
// add scripts.
func newSentValues(key string, scripts map[string]string) sentValues {
	return sentValues{key: key, scripts: scripts, names: map[string]valueName{}, counts: map[string]int{}, senders: map[string]string{}}
}

// record names the random values in a command and records the sender of its words. It ignores the text of a script.
func (v *sentValues) record(process string, command []string) {
	first := 1
	switch strings.ToUpper(command[0]) {
	case "EVAL", "EVALSHA":
		first = 3
	case "SCRIPT", "HELLO", "CLIENT", "AUTH":
		return
	}
	for _, word := range command[min(first, len(command)):] {
		for _, part := range randomParts(word) {
			if _, ok := v.names[part]; !ok && !v.isConstant(part) {
				v.add(process, part)
			}
		}
		if sender, ok := v.senders[word]; !ok {
			v.senders[word] = process
		} else if sender != process {
			v.senders[word] = ""
		}
	}
}

// isConstant reports whether a word is part of the lock's key, of a script, or of a command passed to Do, which are the same in every run.
func (v *sentValues) isConstant(word string) bool {
	containsWord := func(text string) bool { return strings.Contains(text, word) }
	if containsWord(v.key) || slices.ContainsFunc(v.directWords, containsWord) {
		return true
	}
	for _, script := range v.scripts {
		if strings.Contains(script, word) {
			return true
		}
	}
	return false
}

// add names a new random value.
func (v *sentValues) add(process, value string) {
	v.counts[process]++
	v.names[value] = valueName{process, v.counts[process]}
	at, _ := slices.BinarySearchFunc(v.byLength, value, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	v.byLength = slices.Insert(v.byLength, at, value)
}

// nextRandom returns the first random value in a text and the index at which it begins. If several values begin there, it returns the
// longest. If there is none, begin is the length of the text.
func (v *sentValues) nextRandom(text string) (begin int, value string) {
	begin = len(text)
	for _, known := range v.byLength {
		if i := strings.Index(text[:min(len(text), begin+len(known)-1)], known); i >= 0 && i < begin {
			begin, value = i, known
		}
	}
	return begin, value
}

// soleSender is like Server.Sender, for callers that hold the mutex.
func (v *sentValues) soleSender(values []string) string {
	for _, value := range values {
		if sender := v.senders[value]; sender != "" && !isNumber(value) {
			return sender
		}
	}
	for _, value := range values {
		if _, value := v.nextRandom(value); value != "" {
			return v.names[value].process
		}
	}
	return ""
}

// isNumber reports whether a word is a decimal number.
func isNumber(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

// Sender returns the only process that has sent one of these values, or else the process whose random value is part of one of them; "" if
// there is none. Numbers do not count: several processes may send the same number by chance.
func (s *Server) Sender(values []string) (process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values.soleSender(values)
}

// minRandomLength is the smallest number of bytes of a part that may be random: the length of the first block of a UUID.
const minRandomLength = 8

// randomParts returns the parts of a word that look random: UUIDs, hexadecimal, base 32 and base 64, long numbers that are not times,
// and words with unprintable bytes.
func randomParts(word string) (parts []string) {
	if len(word) < minRandomLength {
		return nil
	}
	if !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return []string{word}
	}
	begin := 0
	for i := 0; i <= len(word); i++ {
		if i < len(word) && isTokenByte(word[i]) {
			continue
		}
		if part := word[begin:i]; len(part) >= minRandomLength && isRandom(part) {
			parts = append(parts, part)
		}
		begin = i + 1
	}
	return parts
}

// isTokenByte reports whether c may be part of an identifier in base 64, in either alphabet, or of a UUID.
func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("+/=_-", c) >= 0
}

// isRandom reports whether a word is hexadecimal, base 32, or changes often between digits, lower and upper case. It errs on the side of
// true: a meaningful word that is taken for random merely gets a name.
func isRandom(word string) bool {
	if isDigits(word) {
		_, _, isTime := parseTime(word)
		return len(word) > 10 && !isTime
	}
	const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	switch {
	case hasDigit(word) && (isMadeOf(word, "0123456789abcdef-") || isMadeOf(word, "0123456789ABCDEF-")):
		return true
	case len(word) >= 16 && isMadeOf(word, capitals+"0123456789="):
		return true
	}
	changes, capital, before := 0, 0, 0
	for _, c := range []byte(word) {
		class := 0
		switch {
		case c >= '0' && c <= '9':
			class = 1
		case c >= 'a' && c <= 'z':
			class = 2
		case c >= 'A' && c <= 'Z':
			class = 3
			capital++
		}
		if class != 0 && before != 0 && class != before {
			changes++
		}
		if class != 0 {
			before = class
		}
	}
	// A word with two changes may be camelCase, unless it has a digit or more capitals.
	return changes >= 3 || changes == 2 && len(word) >= 12 && (hasDigit(word) || capital > 2)
}

// hasDigit reports whether a word contains an ASCII digit.
func hasDigit(word string) bool { return strings.ContainsAny(word, "0123456789") }

// isMadeOf reports whether a word consists of the given characters.
func isMadeOf(word, characters string) bool { return strings.Trim(word, characters) == "" }

// isDigits reports whether a word consists of ASCII digits.
func isDigits(word string) bool { return word != "" && isMadeOf(word, "0123456789") }

// parseTime reads digits as a time near the bubble's clock. It returns the time since the clock's start, and the unit that fits. ok is
// false for any other number.
func parseTime(digits string) (since, unit time.Duration, ok bool) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	return simredis.SinceStart(n)
}

// AppendRelative appends a text for the hash of a state. It replaces each time by the time relative to now, and each random value by the
// number of random values that its process has sent since then. So the same behaviour at a later time gives the same text.
func (s *Server) AppendRelative(b []byte, text string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendRelative(b, text)
}

// appendRelative is like AppendRelative, for callers that hold the mutex.
func (s *Server) appendRelative(b []byte, text string) []byte {
	for text != "" {
		begin, value := s.values.nextRandom(text)
		b = appendTimes(b, text[:begin], s.expiredUntil)
		if value != "" {
			n := s.values.names[value]
			b = fmt.Appendf(b, "<%s %d>", n.process, s.values.counts[n.process]-n.number)
		}
		text = text[begin+len(value):]
	}
	return b
}

// appendTimes appends a text with its times relative to now.
func appendTimes(b []byte, text string, now time.Duration) []byte {
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if end == i {
			b = append(b, text[i])
			i++
			continue
		}
		if since, unit, ok := parseTime(text[i:end]); ok {
			b = fmt.Appendf(b, "<%d %d>", since-now, unit)
		} else {
			b = append(b, text[i:end]...)
		}
		i = end
	}
	return b
}

// Display formats a text for readers: quoted, and with the names of random values instead of the values.
func (s *Server) Display(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for text != "" {
		begin, value := s.values.nextRandom(text)
		quoted := strconv.Quote(text[:begin])
		b.WriteString(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`))
		if value != "" {
			b.WriteString(s.values.names[value].String())
		}
		text = text[begin+len(value):]
	}
	return b.String()
}
