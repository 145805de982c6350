package redisclient

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrTooOld is returned by CheckVersion for a server older than the locks and the shop support.
var ErrTooOld = errors.New("it is too old: lockstep needs Redis 7 or newer, or Valkey 8 or newer")

// oldestRedis is the first major version that always replicates a script's commands one by one and gives script errors codes.
const oldestRedis = 7

// CheckVersion fails with ErrTooOld if server is redis and version, such as 5.0.14, is too old. It accepts other servers and versions that
// it cannot parse.
func CheckVersion(server, version string) error {
	text, _, _ := strings.Cut(version, ".")
	if major, err := strconv.Atoi(text); err == nil && major < oldestRedis && strings.EqualFold(server, "redis") {
		return fmt.Errorf("it is Redis %.20s: %w", version, ErrTooOld)
	}
	return nil
}
