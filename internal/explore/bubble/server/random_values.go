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

// values are those that clients send. A random one has a name that is the same in every run, wherever it stands: A1 is the first that
// process A sent. Redis holds the values themselves; names are for people, and for telling states apart.
type sentValues struct {
	key         string               // of the lock: never random
	scripts     map[string]string    // what stands in their texts is not, either
	names       map[string]valueName // by their values
	byLength    []string             // the values, the longest first
	counts      map[string]int       // of a process
	senders     map[string]string    // of words: the process that alone has sent it, "" if several have
	directWords []string             // words that no client has sent: never random
}

// name is a random value's: the process that sent it first, and which of its values it was, from 1 on.
type valueName struct {
	process string
	number  int
}

func (n valueName) String() string { return fmt.Sprint(n.process, n.number) }

func newValues(key string, scripts map[string]string) sentValues {
	return sentValues{key: key, scripts: scripts, names: map[string]valueName{}, counts: map[string]int{}, senders: map[string]string{}}
}

// note names the random values of a command, and keeps who has sent its words. A script's text is no value.
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

// isConstant reports whether a word stands in the lock's key, in a script or in what nobody has sent, where it must be the same.
func (v *sentValues) isConstant(word string) bool {
	if strings.Contains(v.key, word) || slices.ContainsFunc(v.directWords, func(given string) bool { return strings.Contains(given, word) }) {
		return true
	}
	for _, script := range v.scripts {
		if strings.Contains(script, word) {
			return true
		}
	}
	return false
}

func (v *sentValues) add(process, value string) {
	v.counts[process]++
	v.names[value] = valueName{process, v.counts[process]}
	at, _ := slices.BinarySearchFunc(v.byLength, value, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	v.byLength = slices.Insert(v.byLength, at, value)
}

// next finds the first random value in a text, of several there the longest. It begins at the end if there is none.
func (v *sentValues) nextRandom(text string) (begin int, value string) {
	begin = len(text)
	for _, known := range v.byLength {
		if i := strings.Index(text[:min(len(text), begin+len(known)-1)], known); i >= 0 && i < begin {
			begin, value = i, known
		}
	}
	return begin, value
}

// sender is the process that alone has sent one of these, or what stands in one of them.
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

func isNumber(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

// Sender returns the process that alone has sent one of these values, or what stands in one of them; "" if there is none.
func (s *Server) Sender(values []string) (process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values.soleSender(values)
}

// shortest is the length from which on a part of a word may be random.
const minRandomLength = 8

// randomParts are the parts of a word that look as if they were random: UUIDs, hexadecimal and base 64, long numbers that are no times, and
// what is no text at all.
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

func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("+/=_-", c) >= 0
}

// isRandom reports whether a word is hexadecimal, base 32, or goes to and fro between digits, small and capital letters. A word that people
// made does no harm here: it only gets a name, too.
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
	return changes >= 3 || changes == 2 && len(word) >= 12 && (hasDigit(word) || capital > 2) // and not camelCase
}

func hasDigit(word string) bool { return strings.ContainsAny(word, "0123456789") }

func isMadeOf(word, characters string) bool { return strings.Trim(word, characters) == "" }

func isDigits(word string) bool { return word != "" && isMadeOf(word, "0123456789") }

func parseTime(digits string) (since, unit time.Duration, ok bool) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	return simredis.SinceStart(n)
}

// AppendRelative appends a text in which times are told from now on, and random values by how many have come after them: what happens later
// is the same whenever it happens.
func (s *Server) AppendRelative(b []byte, text string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendRelative(b, text)
}

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

// Display is a text for people: with names instead of random values.
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
