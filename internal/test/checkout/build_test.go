package checkout

import (
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// buildLine is how the README says to build: the arguments of go.
func buildLine(t *testing.T) []string {
	t.Helper()
	line := regexp.MustCompile("`go (build -[^`]+)`").FindStringSubmatch(read(t, readmes[0]))
	if line == nil {
		t.Fatal("the README does not say how to build")
	}
	return strings.Fields(line[1])
}

// Every document builds as the README does.
func TestBuildCommandsAgree(t *testing.T) {
	same := strings.Join(buildLine(t)[1:], " ")
	for _, document := range []string{readmes[1], "Dockerfile"} {
		if !strings.Contains(read(t, document), same) {
			t.Errorf("%s does not build with %s", document, same)
		}
	}
	if archives := releaseFlags(t); archives != same {
		t.Errorf("archives are built with %s, not with %s", archives, same)
	}
}

// releaseFlags returns what a release's archives are built with, as in a command.
func releaseFlags(t *testing.T) string {
	t.Helper()
	var release struct {
		Builds []struct{ Tags, Ldflags []string }
	}
	if err := yaml.Unmarshal([]byte(read(t, ".goreleaser.yaml")), &release); err != nil || len(release.Builds) != 1 {
		t.Fatal(err, release)
	}
	build := release.Builds[0]
	return "-tags " + strings.Join(build.Tags, ",") + " -ldflags=" + strings.Join(build.Ldflags, " ")
}
