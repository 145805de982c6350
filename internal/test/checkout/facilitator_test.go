package checkout

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/test/suite"
)

var shellBlocks = regexp.MustCompile("(?s)```(sh|bash|powershell)\n(.*?)```")

// guideBlock gives the lines of the block in the facilitator's guide that is for a shell and begins so.
func guideBlock(t *testing.T, document, shell, begin string) []string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range shellBlocks.FindAllStringSubmatch(string(text), -1) {
		if block[1] == shell && strings.HasPrefix(block[2], begin) {
			return strings.Split(strings.TrimSpace(block[2]), "\n")
		}
	}
	t.Fatalf("%s has no block for %s that begins with %q", document, shell, begin)
	return nil
}

const guide = "docs/course/facilitator.md"

// The guide and the list of lessons have the same blocks in both languages. What they say for bash they say for PowerShell.
func TestGuidesAreTheSame(t *testing.T) {
	for _, name := range []string{"docs/course/facilitator", "docs/course/README"} {
		if got, want := typed(t, name+".zh-CN.md"), inChinese(typed(t, name+".md")); !slices.Equal(got, want) {
			t.Errorf("%s has in Chinese\n%v\nand in English\n%v", name, got, want)
		}
	}
	english, chinese := guideBlock(t, guide, "bash", "go env"), guideBlock(t, "docs/course/facilitator.zh-CN.md", "bash", "go env")
	if !slices.Equal(english, chinese) {
		t.Errorf("the mirror is set by %q in English, and by %q in Chinese", english, chinese)
	}
	for _, document := range []string{guide, "docs/course/facilitator.zh-CN.md"} {
		windows := guideBlock(t, document, "powershell", "tar ")
		for i, line := range windows {
			if line == `. .\offline.ps1` {
				windows[i] = ". ./offline.sh"
			}
		}
		if bash := guideBlock(t, document, "bash", "tar "); !slices.Equal(bash, windows) {
			t.Errorf("%s says for bash %q, and for PowerShell %q", document, bash, windows)
		}
	}
}

// The mirror is what Go asks after the guide's lines. They are written into a file of the test's own.
func TestGuideSetsTheMirror(t *testing.T) {
	suite.Needs(t, "sh")
	t.Setenv("GOENV", filepath.Join(t.TempDir(), "env"))
	t.Setenv("GOPROXY", "") // as if nobody had set them
	t.Setenv("GOSUMDB", "")
	if err := run(t, "", strings.Join(guideBlock(t, guide, "bash", "go env"), "\n"), nil); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := run(t, "", "go env GOPROXY GOSUMDB", &said); err != nil {
		t.Fatal(err)
	}
	if want := "https://goproxy.cn,direct\nsum.golang.google.cn\n"; said.String() != want {
		t.Errorf("Go asks\n%s; want\n%s", &said, want)
	}
}

// run lets a shell run lines in a directory.
func run(t *testing.T, dir, lines string, said *bytes.Buffer) error {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", lines)
	shell.Dir = dir
	if said != nil {
		shell.Stdout, shell.Stderr = said, said
	}
	return shell.Run()
}

// A class without a network builds what was packed for it, by the guide's own lines.
func TestPackedSourcesBuildOffline(t *testing.T) {
	suite.LongOnly(t, "it compiles everything anew; internal/learn/pack looks at the archive alone")
	suite.Needs(t, "sh", "tar")
	dir := filepath.Join(t.TempDir(), "a class") // with a space
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	archive := filepath.Join(dir, "lockstep-class.tar.gz")
	if code := asTyped.Run(t.Context(), []string{"pack", archive}, &output, &output); code != 0 {
		t.Fatalf("exit code %d: %s", code, &output)
	}
	t.Setenv("GOMODCACHE", filepath.Join(dir, "cache")) // as on a laptop that has no module yet
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -modcacherw")
	t.Setenv("LC_ALL", "C")
	lines := append(guideBlock(t, guide, "bash", "tar "), // doctor's exit code depends on the machine
		"go run . explore atomic", "go -C bench list -deps .")
	var said bytes.Buffer
	err := run(t, dir, strings.Join(lines, "\n"), &said)
	for _, want := range []string{"✓ modules", "atomic never shows an anomaly", "gonum.org/v1/plot"} {
		if err != nil || !strings.Contains(said.String(), want) {
			t.Fatalf("%v; want %q in\n%s", err, want, &said)
		}
	}
}

var answerRow = regexp.MustCompile(`(?m)^\| \[(\d+)\]\([^)]+\) \| \*\*(\d)\*\* \|`)

// The guide's sheet has the answer of each lesson.
func TestGuideHasTheAnswers(t *testing.T) {
	for _, in := range language.All() {
		document := guide
		if in == language.Chinese {
			document = "docs/course/facilitator.zh-CN.md"
		}
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		var sheet, want []string
		for _, row := range answerRow.FindAllStringSubmatch(string(text), -1) {
			sheet = append(sheet, row[1]+": "+row[2])
		}
		for _, lesson := range lessons(t, in) {
			want = append(want, fmt.Sprintf("%d: %d", lesson.Number, lesson.Answer))
		}
		if !slices.Equal(sheet, want) {
			t.Errorf("%s has the answers %q; the lessons have %q", document, sheet, want)
		}
	}
}
