package matrix

import (
	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

// words are those that a matrix has in one language; formats, where they have a %.
type words struct {
	title, other, intro, made      string
	first                          string
	locks, why, see, anomaly       string
	broken, holds, unknown         string
	na, notRun                     string
	expected, took, colon, comma   string
	summary, notAsExpected, unlike string
}

func wordsIn(in language.Language) words {
	if in == language.Chinese {
		return chineseWords()
	}
	return words{
		title: "The matrix",
		other: "[中文](MATRIX.zh-CN.md)",
		intro: "Every anomaly and every strategy. A row is an anomaly, a column a strategy; each cell but n/a was observed. `lab` makes the " +
			"anomaly happen on the running service, by a real fault; `explore` looks for it in every order of the commands. Below the table, each " +
			"anomaly says what was observed of which strategies, why, and by which command you see it.",
		made:     "This page is what `%s` prints. To write it anew: `go test ./internal/test/checkout -tags long -run Matrix -update`.",
		first:    "A line's command is that of its first strategy. Put in the name of another one.",
		locks:    "strategy",
		why:      "why",
		see:      "see it",
		anomaly:  "anomaly",
		broken:   "broken",
		holds:    "holds",
		unknown:  "unknown",
		na:       "n/a",
		notRun:   "not run",
		expected: "expected: %s",
		took:     "%.1f s",
		colon:    ": ",
		comma:    ", ",
		summary:  "%d cells: %d broken, %d holds, %d unknown, %d n/a, %d not run",

		notAsExpected: "%d not as expected",
		unlike:        "not as expected",
	}
}

func chineseWords() words {
	return words{
		title: "矩阵",
		other: "[English](MATRIX.md)",
		intro: "所有异常与所有策略。一行是一种异常，一列是一种策略，除“不适用”外，每一格都实际运行过。`lab` 用真实的故障让异常在运行中的服务上发生；`explore` 在命令的" +
			"所有顺序中寻找它。表格下面逐一说明：哪些策略观察到了什么、为什么、用哪条命令可以看到。",
		made:     "本页是 `%s` 的输出。重新生成：`go test ./internal/test/checkout -tags long -run Matrix -update`。",
		first:    "每行的命令用的是该行第一个策略；要看别的策略，换上它的名字。",
		locks:    "策略",
		why:      "原因",
		see:      "怎样看到",
		anomaly:  "异常",
		broken:   "会发生",
		holds:    "不会发生",
		unknown:  "未知",
		na:       "不适用",
		notRun:   "未运行",
		expected: "预期：%s",
		took:     "%.1f 秒",
		colon:    "：",
		comma:    "，",
		summary:  "共 %d 格：%d 会发生，%d 不会发生，%d 未知，%d 不适用，%d 未运行",

		notAsExpected: "%d 格与预期不符",
		unlike:        "与预期不符",
	}
}

// observed is what became of a strategy, in words.
func (w words) observed(o lab.Observed) string {
	switch o {
	case lab.Broken:
		return w.broken
	case lab.Holds:
		return w.holds
	case lab.Unknown:
		return w.unknown
	case lab.NA:
		return w.na
	default:
		return w.notRun
	}
}

// mark is the same in one sign.
func mark(o lab.Observed) string {
	switch o {
	case lab.Broken:
		return "✗"
	case lab.Holds:
		return "✓"
	case lab.Unknown:
		return "?"
	case lab.NA:
		return "–"
	default:
		return "·"
	}
}

// marked is a cell in a sign or two.
func (c Cell) marked() string {
	if c.Ran() && !c.AsExpected() {
		return mark(c.Observed) + "!"
	}
	return mark(c.Observed)
}

// marks are the observations, in the order in which a legend has them.
func marks() []lab.Observed {
	return []lab.Observed{lab.Broken, lab.Holds, lab.Unknown, lab.NA, ""}
}
