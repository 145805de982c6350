package suite

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"lockstep/internal/fault"
)

// Needs skips the test if one of the programs is not installed, with a message that names the program and its package. In CI it fails the
// test instead. Call it in the first line of a test, before starting anything that a skip would leave behind. Tests look for programs only
// through Needs.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		err := find(program)
		switch {
		case err == nil:
		case program == "redis-server" && !errors.Is(err, fault.ErrNoRedis):
			t.Fatal(err)
		case os.Getenv("CI") != "":
			t.Fatalf("%s is not installed, and in CI it has to be; its package is %s", program, packageOf(program))
		default:
			t.Skipf("%s is not installed; its package is %s", program, packageOf(program))
		}
	}
}

// find returns an error if a program is not installed. In place of redis-server, fault.FindRedis may find another server.
func find(program string) error {
	if program == "redis-server" {
		_, err := fault.FindRedis()
		return err
	}
	_, err := exec.LookPath(program)
	return err
}

// IsSetting reports whether an environment variable is a setting of the developer, which tests must ignore.
func IsSetting(variable string) bool {
	return strings.HasPrefix(variable, "LOCKSTEP_") && variable != fault.RedisVariable
}

// packageOf returns the Debian package of a program.
func packageOf(program string) string {
	switch program {
	case "mvn":
		return "maven"
	case "redis-cli":
		return "redis-tools"
	case "node":
		return "nodejs"
	case "diff":
		return "diffutils"
	case "sh":
		return "dash"
	case "false":
		return "coreutils"
	default:
		return program
	}
}
