package checkout

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const mostBytes = 30_000_000

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

// The program is small, built as the README says or run by go run.
func TestTheProgramIsSmall(t *testing.T) {
	line := buildLine(t)
	for name, flags := range map[string][]string{
		"README": line, "go run .": {"build", "-ldflags=-s"}, // as go run does
	} {
		program := filepath.Join(t.TempDir(), "lockstep.exe")
		if output, err := exec.Command("go", append(flags, "-o", program, ".")...).CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", flags, err, output)
		}
		file, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f MB", name, float64(file.Size())/1e6)
		if file.Size() > mostBytes {
			t.Errorf("%s: go %v makes a program of %d bytes; want no more than %d. Is a method now called by a name that only the running "+
				"program knows, as templates do? Then the linker keeps all methods: go build -ldflags=-dumpdep . 2>&1 | grep ReflectMethod",
				name, flags, file.Size(), mostBytes)
		}
	}
	for _, document := range []string{readmes[1], "Dockerfile"} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		if same := strings.Join(line[1:], " "); !strings.Contains(string(text), same) {
			t.Errorf("%s does not build with %s", document, same)
		}
	}
}
