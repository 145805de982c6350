package redisclient

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrTooOld is returned by CheckVersion for a Redis that is too old for the locks and the shop.
var ErrTooOld = errors.New("too old: lockstep needs Redis 7 or newer")

// oldestRedis is the first major version that always replicates a script's commands one by one and returns script errors with a code.
const oldestRedis = 7

// CheckVersion fails with ErrTooOld if server is redis and version, such as 5.0.14, is too old. It accepts other servers and versions that
// it cannot parse.
func CheckVersion(server, version string) error {
	text, _, _ := strings.Cut(version, ".")
	if major, err := strconv.Atoi(text); err == nil && major < oldestRedis && strings.EqualFold(server, "redis") {
		return fmt.Errorf("version %.20s is %w", version, ErrTooOld)
	}
	return nil
}
