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

// goRun is the command that was typed if the program is where go run puts it: in a temporary directory, or in the build cache.
const goRun = "go run ."

var inBuildCache = regexp.MustCompile(`^[0-9a-f]{64}-d$`)

// Typed returns how this program was started, as a person would type it again, from os.Args[0]: lockstep, ./lockstep, or go run .
func Typed(arg0 string) string {
	dir := filepath.Dir(arg0)
	if inBuildCache.MatchString(filepath.Base(dir)) || filepath.Base(dir) == "exe" && strings.Contains(dir, "go-build") {
		return goRun
	}
	return cmp.Or(arg0, productName)
}

// version says which lockstep this is, as far as the build recorded it.
func version(build *debug.BuildInfo) string {
	if build == nil {
		return "(unknown)"
	}
	said := map[string]string{}
	for _, setting := range build.Settings {
		said[setting.Key] = setting.Value
	}
	text := cmp.Or(build.Main.Version, "(devel)")
	if revision := said["vcs.revision"]; revision != "" {
		text += ", revision " + revision
		if said["vcs.modified"] == "true" {
			text += ", modified"
		}
		text += ", of " + said["vcs.time"]
	}
	return fmt.Sprintf("%s, %s %s/%s", text, cmp.Or(build.GoVersion, runtime.Version()), runtime.GOOS, runtime.GOARCH)
}
