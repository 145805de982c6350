package simredis

import (
	"fmt"
	"slices"
	"strings"
)

// Renamed writes everything that a server holds, with other names in it. What Redis keeps in the order of names, which are keys, fields and
// members, stands in the order of the new ones. Who asks again with the same key gets the same text.
func (s *State) Renamed(key string, rename func(text string) string) string {
	if known, ok := s.renamed[key]; ok {
		return known
	}
	lines := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		lines[i] = fmt.Sprintf("%q %s %d %q\n", rename(k.Name), k.kind, k.TTL, k.renamed(rename))
	}
	slices.Sort(lines)
	text := strings.Join(lines, "") + s.learnt
	s.renamed[key] = text
	return text
}

// renamed returns a key's values with other names.
func (k Key) renamed(rename func(text string) string) []string {
	values := make([]string, len(k.Values))
	for i, value := range k.Values {
		values[i] = rename(value)
	}
	switch k.kind {
	case "set", "zset":
		slices.Sort(values)
	case "hash":
		var fields []string
		for i := 0; i+1 < len(values); i += 2 {
			fields = append(fields, fmt.Sprintf("%q %q", values[i], values[i+1]))
		}
		slices.Sort(fields)
		return fields
	}
	return values
}
