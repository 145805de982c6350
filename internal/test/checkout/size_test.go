package checkout

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"lockstep/internal/test/suite"
)

const mostBytes = 31_000_000

// buildLine is how the README says to build: the arguments of go.
func buildLine(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(readmes[0])
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile("`go (build -[^`]+)`").FindStringSubmatch(string(text))
	if line == nil {
		t.Fatal("the README does not say how to build")
	}
	return strings.Fields(line[1])
}

// The program that go run starts is small, too, and every document builds as the README does.
func TestTheProgramIsBuiltInOneWay(t *testing.T) {
	same := strings.Join(buildLine(t)[1:], " ")
	for _, document := range []string{readmes[1], "Dockerfile"} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), same) {
			t.Errorf("%s does not build with %s", document, same)
		}
	}
	if archives := releaseFlags(t); archives != same {
		t.Errorf("archives are built with %s, not with %s", archives, same)
	}
	suite.LongOnly(t, "TestReadmeCommands builds as the README says, and looks at the size")
	program := filepath.Join(t.TempDir(), "lockstep.exe")
	if output, err := exec.Command("go", "build", "-ldflags=-s", "-o", program, ".").CombinedOutput(); err != nil { // as go run does
		t.Fatalf("%v\n%s", err, output)
	}
	isSmall(t, program)
}

// releaseFlags returns what a release's archives are built with, as in a command.
func releaseFlags(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(".goreleaser.yaml")
	var release struct {
		Builds []struct{ Tags, Ldflags []string }
	}
	if err = errors.Join(err, yaml.Unmarshal(text, &release)); err != nil || len(release.Builds) != 1 {
		t.Fatal(err, release)
	}
	build := release.Builds[0]
	return "-tags " + strings.Join(build.Tags, ",") + " -ldflags=" + strings.Join(build.Ldflags, " ")
}

// isSmall sees that a program has no more bytes than it needs.
func isSmall(t *testing.T, program string) {
	t.Helper()
	file, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB", float64(file.Size())/1e6)
	if file.Size() > mostBytes {
		t.Errorf("the program has %d bytes; want no more than %d. Is a method now called by a name that only the running program knows, "+
			"as templates do? Then the linker keeps all methods: go build -ldflags=-dumpdep . 2>&1 | grep ReflectMethod", file.Size(), mostBytes)
	}
}
