package steps

import (
	"slices"
	"strings"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
)

// heading returns the title line of the step.
func (d Detail) heading(in language.Language) string {
	return in.Say("%s → %s: %s", "%s → %s：%s", d.From, d.To, d.Title)
}

// totalText returns the sentence about the number of changed lines.
func (d Detail) totalText(in language.Language) string {
	return in.Say("%d changed lines (+%d −%d), comments and blank lines left out.", "改动 %d 行（+%d −%d），注释和空行不计。",
		d.Added()+d.Removed(), d.Added(), d.Removed())
}

// summary returns the sentences about what the step adds, cures and no longer uses.
func (d Detail) summary(in language.Language) []string {
	all := []string{in.Say("Adds: ", "加了：") + d.Adds}
	if d.Flaw != "" {
		all = append(all, in.Say("Flaw of %s: ", "%s 的缺陷：", d.From)+d.Flaw)
	}
	if len(d.Measured) > 0 {
		all = append(all, in.Say("Measured: %s (%s)", "实测：%s（%s）", d.Measured[0], d.Where))
	}
	return append(all, d.Removals...)
}

// unchangedText returns the text in the place of hidden lines.
func unchangedText(lines int, in language.Language) string {
	if lines == 1 {
		return in.Say("1 unchanged line", "1 行未变")
	}
	return in.Say("%d unchanged lines", "%d 行未变", lines)
}

// removals returns the sentences about what the step no longer uses: scripts, and parts of internal/lock. unsent has the names of scripts.
func (s Step) removals(unsent []string, in language.Language) (sentences []string) {
	sentences = []string{}
	slices.Sort(unsent)
	if unsent != nil {
		sentences = append(sentences, in.Say("No longer sent: ", "不再发送：")+strings.Join(unsent, ", "))
	}
	if s.DroppedParts != nil {
		sentences = append(sentences, in.Say("No longer used in internal/lock: ", "不再使用 internal/lock 的：")+strings.Join(s.DroppedParts, ", "))
	}
	return sentences
}

// usedFromText returns the reason why a shared file is new in the step.
func usedFromText(lock string, in language.Language) string {
	return in.Say("used from %s on", "从 %s 开始使用", lock)
}

// headText returns the note about a head.
func headText(in language.Language) string {
	return in.Say("package comment, imports", "包注释、import")
}

// replacesText returns the reason why a file that replaces another file is new.
func replacesText(script string, in language.Language) string {
	return in.Say("replaces %s", "代替 %s", script)
}

// newText returns the note about a file that is new for no other reason.
func newText(in language.Language) string { return in.Say("new", "新文件") }

// measurementText returns where the numbers were measured, and what their limit is.
func measurementText(f evolution.Figures, in language.Language) string {
	return in.Say("%s; the limit is one seller without a lock", "%s；上限是一个买家、不加锁时的吞吐量", f.Source(in))
}
