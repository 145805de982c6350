package exercise_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/docs"
	"lockstep/internal/anomaly"
	"lockstep/internal/course"
	"lockstep/internal/exercise"
	"lockstep/internal/language"
)

var update = flag.Bool("update", false, "write the pages of the exercises anew")

const root = "../.."

// The pages of the exercises equal the pages that the table and their English texts generate, in both languages.
// Run go test ./internal/exercise -run Pages -update to write them.
func TestPagesAreUpToDate(t *testing.T) {
	pages := map[string]string{}
	for _, in := range language.All() {
		pages["docs/exercises"+suffix(in)] = listPage(in)
		for _, e := range exercise.All() {
			pages[e.Dir()+"/README"+suffix(in)] = readme(t, e, in)
		}
	}
	for name, want := range pages {
		file := filepath.Join(root, filepath.FromSlash(name))
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // meant to be readable for everybody
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is not of its form (%v): go test ./internal/exercise -run Pages -update", name, err)
		}
	}
}

func suffix(in language.Language) string {
	if in == language.Chinese {
		return ".zh-CN.md"
	}
	return ".md"
}

// page collects the text of a page in one language.
type page struct {
	strings.Builder
	in language.Language
}

func (p *page) line(english, chinese string, args ...any) {
	fmt.Fprintf(p, language.Both(english, chinese).In(p.in)+"\n\n", args...)
}

func (p *page) colon() string { return p.text(language.Both(": ", "：")) }

func (p *page) text(t language.Text) string { return t.In(p.in) }

// lessonOf returns the lesson to which an exercise belongs: the one that runs its check, and links its page.
func lessonOf(t *testing.T, e exercise.Exercise, in language.Language) (found course.Lesson) {
	t.Helper()
	lessons, err := course.Lessons(docs.Course(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lessons {
		try := l.Sections[course.Try].Text
		if !strings.Contains(try, "go run . check "+e.ID()[:2]) {
			continue
		}
		if found.Number != 0 {
			t.Errorf("%s belongs to lesson %d, and to %s", e.ID(), found.Number, l.File)
		}
		if link := "(../../" + e.Dir() + "/README" + suffix(in) + ")"; !strings.Contains(try, link) {
			t.Errorf("%s runs the check of %s, and has no link %s", l.File, e.ID(), link)
		}
		found = l
	}
	if found.Number == 0 {
		t.Errorf("%s belongs to no lesson in %s", e.ID(), in)
	}
	return found
}

func readme(t *testing.T, e exercise.Exercise, in language.Language) string {
	t.Helper()
	p, nn := &page{in: in}, e.ID()[:2]
	p.line("# Exercise %s: %s", "# 练习 %s：%s", nn, p.text(e.Title))
	l := lessonOf(t, e, in)
	p.line("[中文](README.zh-CN.md) · [All exercises](../../docs/exercises.md) · [Lesson %d](../../docs/course/%s)",
		"[English](README.md) · [全部练习](../../docs/exercises.zh-CN.md) · [第 %d 课](../../docs/course/%s)", l.Number, l.File)
	p.line("%s", "%s", p.text(e.Story))
	p.line("**The claim.** %s", "**要求。** %s", p.text(e.Claim))
	p.line("Predict what breaks it, then repair [lock.go](lock.go):", "先预测哪种命令顺序会违反要求，再修改 [lock.go](lock.go)：")
	fmt.Fprintf(p, "```bash\ngo run . check %s%s\n```\n\n", nn, p.flag())
	p.line("Scenarios and forbidden [anomalies](../../docs/break-it.md#faults-and-anomalies)%s:",
		"检查会探索以下场景的所有命令顺序，不得出现其后的[异常](../../docs/break-it.zh-CN.md#故障和异常)%s：", p.usual(e))
	for _, look := range e.Explorations {
		fmt.Fprintf(p, "- %s%s%s\n", p.scenario(look), p.colon(), p.anomalies(look))
	}
	fmt.Fprintln(p)
	for i, hint := range e.Hints {
		fmt.Fprintf(p, "<details><summary>%s %d</summary>\n\n%s\n\n</details>\n\n", p.text(language.Both("Hint", "提示")), i+1, p.text(hint))
	}
	return strings.TrimSpace(p.String()) + "\n"
}

// flag returns the flag with which a command answers in the language of the page.
func (p *page) flag() string {
	if p.in == language.Chinese {
		return " --lang zh"
	}
	return ""
}

// usual returns a link to what the name of the usual anomalies stands for, if the page of the exercise has that name.
func (p *page) usual(e exercise.Exercise) string {
	for _, look := range e.Explorations {
		if strings.Contains(p.anomalies(look), exercise.UsualName) {
			return p.text(language.Both(" ([`usual`](../../docs/exercises.md))", "（[`usual` 的含义](../../docs/exercises.zh-CN.md)）"))
		}
	}
	return ""
}

func (p *page) scenario(look exercise.Exploration) string {
	if flags := look.Scenario.String(); flags != "" {
		return "`" + flags + "`"
	}
	return p.text(language.Both("no fault", "没有故障"))
}

// anomalies returns the names of a look's anomalies, with one name for the usual ones.
func (p *page) anomalies(look exercise.Exploration) string {
	return strings.Replace(p.names(look.Anomalies), p.names(exercise.UsualAnomalies()), "`"+exercise.UsualName+"`", 1)
}

// names returns the names of anomalies as a page lists them.
func (p *page) names(all []anomaly.Anomaly) string {
	var names []string
	for _, a := range all {
		names = append(names, "`"+string(a)+"`")
	}
	return strings.Join(names, p.text(language.Both(", ", "、")))
}

func listPage(in language.Language) string {
	p := &page{in: in}
	p.line("# Exercises", "# 练习")
	p.line("[中文](exercises.zh-CN.md)", "[English](exercises.md)")
	p.line("Each exercise is a lock with one flaw, for you to repair. `check` compiles your code, runs it in every order of its Redis "+
		"commands, under faults, and answers in seconds: done, or the shortest schedule that breaks the claim.",
		"每个练习是一把有一处缺陷的锁，代码在一个小文件里，由你来修。`check` 编译你的代码，在各种故障下运行其 Redis 命令的所有顺序，"+
			"几秒内给出答案：完成，或者违反要求的最短时序。")
	fmt.Fprint(p, "```bash\n")
	for _, line := range []struct {
		args    string
		meaning language.Text
	}{
		{"", language.Both("the list, and what is done", "列表，以及完成情况")},
		{" 05", language.Both("check one: 05, nested, or its directory", "检查一题：05、nested 或其目录")},
		{" --watch", language.Both("after each save, until all are done", "每次保存都检查，直到全部完成")},
		{" 05 --hint", language.Both("the next of three hints", "三个提示中的下一个")},
		{" 05 --solution", language.Both("when you are done, or ask twice", "完成之后才显示；没完成时，要问第二次")},
	} {
		fmt.Fprintf(p, "%-*s # %s\n", len("go run . check 05 --solution"+p.flag()), "go run . check"+line.args+p.flag(), p.text(line.meaning))
	}
	fmt.Fprint(p, "```\n\n")
	fmt.Fprintln(p, strings.Join(p.exerciseLinks(), "\n")+"\n")
	p.line("You need only Go: Redis is simulated. Your code has to wait, start goroutines and read the clock [as the explorer asks]"+
		"(your-own-lock.md#what-the-explorer-asks-of-a-lock). An exercise's page lists scenarios, as flags of `lockstep explore`, and "+
		"[anomalies](break-it.md#faults-and-anomalies) that must not occur; `usual` stands for "+p.names(exercise.UsualAnomalies())+".\n\n"+
		"Your progress, in the course too, is in `.lockstep-course.json`, beside `go.mod`; remove it to start over. `git checkout -- "+
		"exercises/05-nested` restores an exercise.",
		"只需要 Go：Redis 是模拟的。等待、启动 goroutine、取时间，都要按[探索器对锁的要求](your-own-lock.zh-CN.md#探索器对锁的要求)来写。"+
			"练习页上列出场景（即 `lockstep explore` 的选项）和不得出现的[异常](break-it.zh-CN.md#故障和异常)；`usual` 指 "+
			p.names(exercise.UsualAnomalies())+"。\n\n"+
			"练习和课程的进度都记在 `go.mod` 旁边的 `.lockstep-course.json` 里，删除它就重新开始。`git checkout -- exercises/05-nested` 可以还原一题。")
	p.line("Exit code: 0 done; 1 not yet; 2 (under `go run` 1) unknown, such as code that does not compile, panics, or waits where the "+
		"explorer cannot see it.",
		"退出码：0 完成；1 还没有完成；2（用 `go run` 时是 1）无法判断，例如代码无法编译、panic，或者在探索器看不到的地方等待。")
	return strings.TrimSpace(p.String()) + "\n"
}

// exerciseLinks returns a Markdown list item for each exercise.
func (p *page) exerciseLinks() (links []string) {
	for _, e := range exercise.All() {
		links = append(links, fmt.Sprintf("- [%s](../%s/README%s)%s%s", e.ID(), e.Dir(), suffix(p.in), p.colon(), p.text(e.Title)))
	}
	return links
}

// The catalogue names exercises as a source of an anomaly if and only if an exercise looks for it.
func TestCatalogueNamesExerciseAnomalies(t *testing.T) {
	sought := map[anomaly.Anomaly]bool{}
	for _, e := range exercise.All() {
		for _, look := range e.Explorations {
			for _, a := range look.Anomalies {
				sought[a] = true
			}
		}
	}
	for _, row := range anomaly.Catalogue() {
		if sought[row.ID] != slices.Contains(strings.Fields(row.Parts), "exercise") {
			t.Errorf("%s is shown by %q, and an exercise looks for it: %t", row.ID, row.Parts, sought[row.ID])
		}
		delete(sought, row.ID)
	}
	if len(sought) > 0 {
		t.Errorf("exercises look for %v, which are not in the catalogue", sought)
	}
}
