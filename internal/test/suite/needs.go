package suite

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"lockstep/internal/fault"
)

// Needs skips the test where one of the programs is not installed, and names it and its package; in CI the test fails. It is a test's first
// line, before anything is started that a skip would leave behind, and the only way in which a test asks for a program.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		err := look(program)
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

// look looks for a program. Where a test needs redis-server, it may be another server.
func look(program string) error {
	if program == "redis-server" {
		_, err := fault.FindRedis()
		return err
	}
	_, err := exec.LookPath(program)
	return err
}

// IsSetting reports whether a variable of the environment is a setting of the developer's own, which no test should know of.
func IsSetting(variable string) bool {
	return strings.HasPrefix(variable, "LOCKSTEP_") && variable != fault.RedisVariable
}

// packageOf names the package of Debian that has a program.
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
