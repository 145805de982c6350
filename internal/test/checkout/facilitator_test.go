package checkout

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/test/suite"
)

const guide = "docs/course/facilitator.md"

var mirrorBlock = regexp.MustCompile("(?s)```bash\n(go env -w .*?)```")

// The mirror is what Go asks after the guide's lines. They are written into a file of the test's own.
func TestGuideSetsModuleMirror(t *testing.T) {
	suite.Needs(t, "sh")
	t.Setenv("GOENV", filepath.Join(t.TempDir(), "env"))
	t.Setenv("GOPROXY", "") // as if nobody had set them
	t.Setenv("GOSUMDB", "")
	lines := mirrorBlock.FindStringSubmatch(read(t, guide))
	if lines == nil {
		t.Fatalf("%s sets no mirror", guide)
	}
	said, err := exec.CommandContext(t.Context(), "sh", "-c", lines[1]+"go env GOPROXY GOSUMDB").CombinedOutput()
	if want := "https://goproxy.cn,direct\nsum.golang.google.cn\n"; err != nil || string(said) != want {
		t.Errorf("%v: Go asks\n%s; want\n%s", err, said, want)
	}
}

var answerRow = regexp.MustCompile(`\b(\d+)(?:: |：)\*\*(\d)\*\*`)

// The guide's sheet has the answer of each lesson.
func TestGuideHasEveryAnswer(t *testing.T) {
	for _, in := range language.All() {
		document := guide
		if in == language.Chinese {
			document = "docs/course/facilitator.zh-CN.md"
		}
		var sheet, want []string
		for _, row := range answerRow.FindAllStringSubmatch(read(t, document), -1) {
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
