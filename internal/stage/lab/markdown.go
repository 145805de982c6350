package lab

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lockstep/internal/language"
	"lockstep/internal/lock/verdict"
)

// Markdown writes the matrix as a page of documentation: the same for every run that observes the same. The commands begin with the program
// as it is typed.
func (m Matrix) Markdown(typed string) string {
	b := &strings.Builder{}
	made := typed + " matrix --markdown"
	if m.in != language.English {
		made += " --lang " + string(m.in)
	}
	fmt.Fprintf(b, "# %s\n\n%s\n\n%s\n\n", m.title(), m.in.Say("[中文](MATRIX.zh-CN.md)", "[English](MATRIX.md)"), m.intro())
	fmt.Fprintf(b, "%s\n\n", m.in.Say(
		"This page is what `%s` prints. To write it anew: `go test ./internal/test/checkout -tags long -run Matrix -update`.",
		"本页是 `%s` 的输出。重新生成：`go test ./internal/test/checkout -tags long -run Matrix -update`。", made))
	fmt.Fprintf(b, "%s\n\n%s\n\n", strings.Join(m.legend(func(o verdict.Verdict) bool { return m.observed(o) > 0 }), " · "), m.bounds())
	fmt.Fprintf(b, "| %s | %s |", m.in.Say("anomaly", "异常"), m.in.Say("flaw → cure", "缺陷 → 修复"))
	for _, s := range m.Strategies {
		fmt.Fprintf(b, " %s |", s)
	}
	fmt.Fprintf(b, "\n|---|---|%s\n", strings.Repeat(":-:|", len(m.Strategies)))
	for _, l := range All() {
		fmt.Fprintf(b, "| [%s](#%[1]s) | %s |", l.Name, strings.Join(l.Locks(), " → "))
		for _, s := range m.Strategies {
			fmt.Fprintf(b, " %s |", m.Cells[l.Name][s].mark())
		}
		fmt.Fprintln(b)
	}
	fmt.Fprintf(b, "\n%s\n", m.in.Say("A line's command is that of its first strategy. Put in the name of another one.",
		"每行的命令用的是该行第一个策略；要看别的策略，换上它的名字。"))
	for _, l := range All() {
		m.markdownSection(b, l, typed)
	}
	return b.String()
}

func (m Matrix) title() string { return m.in.Say("The matrix", "矩阵") }

func (m Matrix) intro() string {
	return m.in.Say("Every anomaly and every strategy. A row is an anomaly, a column a strategy; each cell but n/a was observed. `lab` makes "+
		"the anomaly happen on the running service, by a real fault; `explore` looks for it in every order of the commands. Below the table, "+
		"each anomaly says what was observed of which strategies, why, and by which command you see it.\n\nThe second column has the lock that "+
		"shows the flaw, and the one that cures it. That need not be the next step. `v11` cures no anomaly of `v10`: it saves a buyer who is "+
		"alone two round trips. Both lose their lock in a failover of Redis, and `redlock` does not. `redlock` fails when one of its nodes "+
		"restarts empty. `v9`, like every lock that is on one Redis with the stock, does not: the run is gone with the lock, and its late "+
		"writes are refused. A Redis that restarts with an older state is another matter: the run is there, and only the lock is gone.",
		"所有异常与所有策略。一行是一种异常，一列是一种策略，除“不适用”外，每一格都实际运行过。`lab` 用真实的故障让异常在运行中的服务上发生；`explore` 在命令的"+
			"所有顺序中寻找它。表格下面逐一说明：哪些策略观察到了什么、为什么、用哪条命令可以看到。\n\n第二列是有缺陷的锁和修复它的锁，后者不一定是下一步。"+
			"`v11` 没有消除 `v10` 的任何异常：它为独自下单的买家省去两次往返。Redis 主从切换时，两者都会丢锁，`redlock` 不会。`redlock` 有一个节点清空重启"+
			"就会出错，`v9` 不会：凡是与库存放在同一个 Redis 上的锁都不会，因为这一轮和锁一起没了，它迟到的写入会被拒绝。Redis 如果带着较旧的数据重启，"+
			"就是另一回事：这一轮还在，丢的只有锁。")
}

// markdownSection tells of one lab: its claim, its flaw and its cure, and what was observed of which strategies.
func (m Matrix) markdownSection(b *strings.Builder, l Lab, typed string) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n", l.Name, capitalized(sentence(l.Claim, m.in)))
	if l.Anomaly == "" {
		fmt.Fprintf(b, "%s\n\n", m.cure(l, typed))
	}
	fmt.Fprintf(b, "| %s | | %s | %s |\n|---|---|---|---|\n", m.in.Say("strategy", "策略"), m.in.Say("why", "原因"), m.in.Say("see it", "怎样看到"))
	for _, g := range m.groups(l.Name) {
		observed, see := g.cell.Observed.In(m.in), ""
		if !g.cell.AsExpected() {
			observed += " (" + m.expected(g.cell) + ")"
		}
		if g.cell.How != "" {
			see = "`" + typed + " " + g.cell.How + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", strings.Join(g.strategies, "` `"), observed, g.cell.Why, see)
	}
}

// cure tells how a lab's flaw is cured, by which command both are seen, and how the explorer shows the flaw.
func (m Matrix) cure(l Lab, typed string) string {
	text := l.HowCured(m.in)
	if diff := l.Diff(); diff != "" {
		text += m.in.Say(" All of it: `%s %s`.", "全部改动：`%s %s`。", typed, diff)
	}
	for _, need := range l.Needs() {
		text += m.in.Say(" This lab needs %s.", "这个实验需要 %s。", need.In(m.in))
	}
	text += m.in.Say("\n\n- The flaw and the cure: `%s lab %s`", "\n\n- 缺陷与修复：`%s lab %s`", typed, l.Name)
	var explored []string
	for _, s := range m.Strategies {
		if command := l.InExplorer(s); command != "" && (s == l.Locks()[0] || l.Explores[s] != "") {
			explored = append(explored, "`"+typed+" "+command+"`")
		}
	}
	if explored != nil {
		text += m.in.Say("\n- In every order: ", "\n- 所有的命令顺序：") + strings.Join(explored, m.in.Say(", ", "，"))
	}
	return text
}

// group is strategies of which the same was observed, for the same reason.
type group struct {
	strategies []string
	cell       Cell // of the first of them
}

// groups gives a row's, in the order of their first strategies.
func (m Matrix) groups(anomaly string) (all []*group) {
	known := map[Cell]*group{}
	for _, s := range m.Strategies {
		c := m.Cells[anomaly][s]
		this := Cell{Observed: c.Observed, Expected: c.Expected, Why: c.Why, How: strings.ReplaceAll(c.How+" ", " "+s+" ", " LOCK ")}
		g := known[this]
		if g == nil {
			g = &group{cell: c}
			known[this] = g
			all = append(all, g)
		}
		g.strategies = append(g.strategies, s)
	}
	return all
}

// capitalized gives a sentence that begins with a capital letter, where there are any.
func capitalized(sentence string) string {
	first, size := utf8.DecodeRuneInString(sentence)
	return string(unicode.ToUpper(first)) + sentence[size:]
}
