package redisclient

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrTooOld means that a server is older than what the locks and the shop are made for.
var ErrTooOld = errors.New("it is too old: lockstep needs Redis 7 or newer, or Valkey 8 or newer")

// oldestRedis is the major version from which on a script's commands are replicated one by one, and its errors have codes.
const oldestRedis = 7

// CheckVersion fails with ErrTooOld for a Redis of such a version, as 5.0.14. It knows nothing of other servers, or of other forms of a
// version.
func CheckVersion(server, version string) error {
	text, _, _ := strings.Cut(version, ".")
	if major, err := strconv.Atoi(text); err == nil && major < oldestRedis && strings.EqualFold(server, "redis") {
		return fmt.Errorf("it is Redis %.20s: %w", version, ErrTooOld)
	}
	return nil
}
