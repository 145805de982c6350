package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/dao"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// beside is what keys of a lock begin with that are not its own: so they are in the same slot of a Redis Cluster.
const lockTagPrefix = "{" + lock.Key + "}:"

// ErrKey means that a lock keeps something where nobody looks for it, or in several slots of a Redis Cluster.
var ErrKey = errors.New("the keys of a lock are " + lock.Key + " (lock.Options.Key), and those that begin with " + lockTagPrefix +
	", so that a Redis Cluster has all of them in one slot")

// itsKeys fails for a command that leaves another key than one of the lock's or the store's, or that has keys of both.
func checkKeys(command *simredis.Command, then *simredis.State) error {
	for _, k := range then.Keys {
		if !dao.IsKey(k.Name) && !isLockKey(k.Name) {
			return fmt.Errorf("%w: %s is none of them: call it %s", ErrKey, k.Name, suggestKey(k.Name))
		}
	}
	var locks, stores string
	for _, key := range command.Keys() {
		switch {
		case dao.IsKey(key):
			stores = key
		case isLockKey(key):
			locks = key
		}
	}
	if locks != "" && stores != "" {
		return fmt.Errorf("%w: one command has %s and %s, which are in two slots", ErrKey, locks, stores)
	}
	return nil
}

// ofSegment is what the keys of a segment's lock begin with, once braces are left out.
const segmentPrefix = lock.Key + ":"

// isLocksAlone reports whether a command asks for keys of the lock, and for no others.
func usesOnlyLockKeys(command *simredis.Command) bool {
	keys := command.Keys()
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return !isLockKey(key) })
}

func isLockKey(key string) bool {
	if key == lock.Key || strings.HasPrefix(key, lockTagPrefix) {
		return true
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(key, "{"), segmentPrefix), "}")
	_, err := strconv.Atoi(number)
	return err == nil && strings.Contains(key, segmentPrefix)
}

// renamed returns what another key may be called.
func suggestKey(key string) string {
	name := strings.TrimPrefix(key, lock.Key+":")
	if _, untagged, tagged := strings.Cut(key, "}:"); tagged && strings.HasPrefix(key, "{") {
		name = untagged
	}
	return lockTagPrefix + name
}
