package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/dao"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// lockTagPrefix is the prefix of a lock's keys beside lock.Key: its hash tag puts them into the same slot of a Redis Cluster.
const lockTagPrefix = "{" + lock.Key + "}:"

// ErrKey is returned when a lock uses a key that is neither lock.Key nor begins with lockTagPrefix, or when one command uses keys in two
// slots of a Redis Cluster.
var ErrKey = errors.New("a lock may only use the key " + lock.Key + " (lock.Options.Key) and keys that begin with " + lockTagPrefix +
	", which a Redis Cluster keeps in the same slot")

// checkKeys returns an error if a command leaves a key that is neither the lock's nor the store's, or uses keys of both. after is the state
// that the command leads to.
func checkKeys(command *simredis.Command, after *simredis.State) error {
	for _, k := range after.Keys {
		if !dao.IsKey(k.Name) && !isLockKey(k.Name) {
			return language.Translate(fmt.Errorf("%w: %s is none of them: call it %s", ErrKey, k.Name, suggestKey(k.Name)),
				"键 %s 不是，请改名为 %s", k.Name, suggestKey(k.Name))
		}
	}
	var lockKey, storeKey string
	for _, key := range command.Keys() {
		switch {
		case dao.IsKey(key):
			storeKey = key
		case isLockKey(key):
			lockKey = key
		}
	}
	if lockKey != "" && storeKey != "" {
		return language.Translate(fmt.Errorf("%w: one command uses %s and %s, which are in two slots", ErrKey, lockKey, storeKey),
			"一条命令同时用了 %s 和 %s，它们在两个槽里", lockKey, storeKey)
	}
	return nil
}

// segmentPrefix is the prefix of the keys of a segment's lock, after an opening brace if there is one.
const segmentPrefix = lock.Key + ":"

// usesOnlyLockKeys reports whether a command has at least one key, and all its keys are the lock's.
func usesOnlyLockKeys(command *simredis.Command) bool {
	keys := command.Keys()
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return !isLockKey(key) })
}

// isLockKey reports whether a key belongs to the lock, or to the lock of a segment.
func isLockKey(key string) bool {
	if key == lock.Key || strings.HasPrefix(key, lockTagPrefix) {
		return true
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(key, "{"), segmentPrefix), "}")
	_, err := strconv.Atoi(number)
	return err == nil && strings.Contains(key, segmentPrefix)
}

// suggestKey returns a valid name for a key that checkKeys refuses.
func suggestKey(key string) string {
	name := strings.TrimPrefix(key, lock.Key+":")
	if _, untagged, tagged := strings.Cut(key, "}:"); tagged && strings.HasPrefix(key, "{") {
		name = untagged
	}
	return lockTagPrefix + name
}
