package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// goRun is what was typed if the executable is where go run puts it: in a temporary directory, or in the build cache.
const goRun = "go run ."

// inBuildCache matches the name of a directory in which go run finds a cached executable.
var inBuildCache = regexp.MustCompile(`^[0-9a-f]{64}-d$`)

// Typed returns the command to type to start this program again, from its os.Args[0]: lockstep, ./lockstep, or go run .
func Typed(arg0 string) string {
	dir := filepath.Dir(arg0)
	if inBuildCache.MatchString(filepath.Base(dir)) || filepath.Base(dir) == "exe" && strings.Contains(dir, "go-build") {
		return goRun
	}
	return cmp.Or(arg0, productName)
}

// version describes the version of lockstep, as far as the build recorded it.
func version(build *debug.BuildInfo) string {
	if build == nil {
		return "(unknown)"
	}
	vcs := map[string]string{}
	for _, setting := range build.Settings {
		vcs[setting.Key] = setting.Value
	}
	text := cmp.Or(build.Main.Version, "(devel)")
	if revision := vcs["vcs.revision"]; revision != "" {
		text += ", revision " + revision
		if vcs["vcs.modified"] == "true" {
			text += ", modified"
		}
		text += ", of " + vcs["vcs.time"]
	}
	return fmt.Sprintf("%s, %s %s/%s", text, cmp.Or(build.GoVersion, runtime.Version()), runtime.GOOS, runtime.GOARCH)
}
