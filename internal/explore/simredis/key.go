package simredis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"

	"lockstep/internal/language"
)

// Key is a key with its values, as Redis's reading commands return them: one value for a string, field and value in turn for a hash, the
// elements of a list or a set, member and score for a sorted set.
type Key struct {
	Name   string        // name of the key
	kind   string        // type, as the command TYPE names it
	Values []string      // as described above
	TTL    time.Duration // time until the key expires; 0: never
}

// IsString reports whether the key is a string: a single value that others cannot add to.
func (k Key) IsString() bool { return k.kind == "string" }

// FirstValue returns the key's first value or field; "" if it has none.
func (k Key) FirstValue() string {
	if len(k.Values) == 0 {
		return ""
	}
	return k.Values[0]
}

// readKey reads a key from miniredis.
func readKey(db *miniredis.RedisDB, name string) (k Key, err error) {
	k = Key{Name: name, kind: db.Type(name), TTL: db.TTL(name)}
	switch k.kind {
	case "string":
		var value string
		value, err = db.Get(name)
		k.Values = []string{value}
	case "hash":
		var fields []string
		fields, err = db.HKeys(name)
		for _, field := range fields {
			k.Values = append(k.Values, field, db.HGet(name, field))
		}
	case "list":
		k.Values, err = db.List(name)
	case "set":
		k.Values, err = db.Members(name)
	case "zset":
		var scores map[string]float64
		scores, err = db.SortedSet(name)
		for member, score := range scores {
			k.Values = append(k.Values, fmt.Sprintf("%s\x00%v", member, score))
		}
		slices.Sort(k.Values)
	default:
		return k, language.Translate(
			fmt.Errorf("the key %s is a %s: the explorer supports only strings, hashes, lists, sets and sorted sets", name, k.kind),
			"键 %s 的类型是 %s：探索器只支持字符串、哈希、列表、集合和有序集合", name, k.kind)
	}
	return k, err
}

// write writes the key to miniredis.
func (k Key) write(db *miniredis.RedisDB) (err error) {
	switch k.kind {
	case "string":
		err = db.Set(k.Name, k.Values[0])
	case "hash":
		db.HSet(k.Name, k.Values...)
	case "list":
		_, err = db.Push(k.Name, k.Values...)
	case "set":
		_, err = db.SetAdd(k.Name, k.Values...)
	case "zset":
		for _, value := range k.Values {
			var score float64
			member, text, _ := strings.Cut(value, "\x00")
			if _, err = fmt.Sscan(text, &score); err == nil {
				_, err = db.ZAdd(k.Name, score, member)
			}
		}
	}
	if err == nil && k.TTL > 0 {
		db.SetTTL(k.Name, k.TTL)
	}
	return err
}

// hasSameValues reports whether two keys have the same name and values.
func (k Key) hasSameValues(other Key) bool {
	return k.Name == other.Name && slices.Equal(k.Values, other.Values)
}

// formatKeys formats keys, with names replaced by rename. Where Redis sorts by name (keys, fields, members), the result is sorted by the
// new names.
func formatKeys(keys []Key, rename func(key, text string) string) string {
	lines := make([]string, len(keys))
	for i, k := range keys {
		values := make([]string, len(k.Values))
		for j, value := range k.Values {
			values[j] = rename(k.Name, value)
		}
		switch k.kind {
		case "set", "zset":
			slices.Sort(values)
		case "hash":
			fields := values
			values = nil
			for field := range slices.Chunk(fields, 2) { // a field and its value
				values = append(values, fmt.Sprintf("%q", field))
			}
			slices.Sort(values)
		}
		lines[i] = fmt.Sprintf("%q %s %d %q\n", rename(k.Name, k.Name), k.kind, k.TTL, values)
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
