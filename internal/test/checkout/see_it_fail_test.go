package checkout

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/stage/lab"
)

// failPages show each step's flaw on the running service. The part between two marks is made of what the labs declare.
var failPages = map[language.Language]string{language.English: "docs/see-it-fail.md", language.Chinese: "docs/see-it-fail.zh-CN.md"}

var (
	made     = regexp.MustCompile(`(?s)(<!-- labs -->\n).*(<!-- end of labs -->\n)`)
	isStep   = regexp.MustCompile(`^(v\d+|redlock)$`)
	runsLab  = regexp.MustCompile(`go run \. lab ([a-z][a-z-]*)(?: --lock ([\w-]+))?`)
	explored = regexp.MustCompile(`go run \. explore ([a-z][\w-]*)`)
)

// failWords are those of such a page; formats, where they have a %.
type failWords struct {
	promise, flaw, cure, diff, more, real, unix, comma string
}

func failWordsIn(in language.Language) failWords {
	if in == language.Chinese {
		return failWords{
			promise: "承诺：%s。", flaw: "`%s` 的缺陷：%s。", cure: "`%s` 的修复：%s。", diff: "全部改动：`%s`。", more: "展示 `%s` 其他缺陷的实验：%s。",
			real: "这个实验需要 `redis-server`。", unix: "这个实验需要 Unix 的信号，在 Windows 上不能运行。", comma: "、",
		}
	}
	return failWords{
		promise: "The promise: %s.", flaw: "The flaw of `%s`: %s.", cure: "The cure, `%s`: %s.", diff: " All of it: `%s`.",
		more: "Labs that show other flaws of `%s`: %s.", real: " This lab needs a `redis-server`.",
		unix: " This lab needs the signals of Unix: it does not run on Windows.", comma: ", ",
	}
}

// storySteps are those of the story, and the branch off it.
func storySteps() (names []string) {
	for _, name := range evolution.Names() {
		if isStep.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

// labsOf are the labs that are made for a step's flaw, and the one that shows it best: where the explorer shows the same. If there is
// none, it is the first that breaks the step.
func labsOf(step string) (best lab.Lab, others []lab.Lab) {
	var breaks []lab.Lab
	for _, l := range lab.All() {
		switch {
		case l.Shows == step && l.InExplorer(step) != "" && best.Name == "":
			best = l
		case l.Shows == step:
			others = append(others, l)
		case l.Expects(step).Observed == lab.Broken:
			breaks = append(breaks, l)
		}
	}
	if best.Name == "" {
		return breaks[0], breaks[1:]
	}
	return best, others
}

// recipe is the part of a page about one step.
func recipe(step string, in language.Language) string {
	w, b := failWordsIn(in), &strings.Builder{}
	best, others := labsOf(step)
	l := best.In(in)
	fmt.Fprintf(b, "## %s → %s\n\n- "+w.promise, step, l.Cured, l.Claim)
	if l.Real {
		fmt.Fprint(b, w.real)
	}
	if l.Unix {
		fmt.Fprint(b, w.unix)
	}
	fmt.Fprintf(b, "\n- "+w.flaw+"\n- "+w.cure, step, l.Expects(step).Why, l.Cured, l.Cure)
	if diff := l.Diff(); diff != "" && l.Shows == step {
		fmt.Fprintf(b, w.diff, diff)
	}
	fmt.Fprintf(b, "\n\n```bash\ngo run . lab %s --lock %s\ngo run . lab %[1]s --lock %[3]s\ngo run . %[4]s\n```\n\n",
		l.Name, step, l.Cured, l.InExplorer(step))
	var more []string
	for _, other := range others {
		more = append(more, "`"+other.Name+"`")
	}
	if len(more) > 0 {
		fmt.Fprintf(b, w.more+"\n\n", step, strings.Join(more, w.comma))
	}
	return b.String()
}

// A page shows of each step what the labs declare. Go test ./internal/test/checkout -run SeeItFail -update writes it anew.
func TestSeeItFailIsWhatTheLabsDeclare(t *testing.T) {
	for in, page := range failPages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var recipes strings.Builder
		for _, step := range storySteps() {
			if best, _ := labsOf(step); best.InExplorer(step) == "" {
				t.Errorf("%s shows the flaw of %s, and does not say how the explorer does", best.Name, step)
			}
			recipes.WriteString(recipe(step, in))
		}
		now := made.ReplaceAllString(string(text), "${1}\n"+strings.ReplaceAll(recipes.String(), "$", "$$")+"${2}")
		if !made.MatchString(now) {
			t.Fatalf("%s has no place for the labs", page)
		}
		if now != string(text) && !*update {
			t.Errorf("%s is not what the labs declare: go test ./internal/test/checkout -run SeeItFail -update", page)
		}
		if *update {
			if err := os.WriteFile(page, []byte(now), 0o644); err != nil { //nolint:gosec // it is for everybody to read
				t.Fatal(err)
			}
		}
	}
}

// What a document tells to type is there: the lab, the lock that the lab is for, and the lock to explore.
func TestDocumentsNameLabsAndLocksThatExist(t *testing.T) {
	seen := 0
	for _, document := range documents() {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, typed := range runsLab.FindAllStringSubmatch(string(text), -1) {
			seen++
			l, err := lab.Find(typed[1])
			if err == nil && typed[2] != "" {
				err = l.Check(typed[2])
			}
			if err != nil {
				t.Errorf("%s: %s: %v", document, typed[0], err)
			}
		}
		for _, typed := range explored.FindAllStringSubmatch(string(text), -1) {
			if _, err := evolution.Find(typed[1]); err != nil {
				t.Errorf("%s: %s: %v", document, typed[0], err)
			}
		}
	}
	if seen < 2*len(failPages)*len(storySteps()) {
		t.Errorf("the documents name %d labs; want them all", seen)
	}
}
