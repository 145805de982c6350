package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"lockstep/internal/explore"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/web"
)

// All explores every lock with every fault, and shows a table.
func (r Request) All(ctx context.Context) (verdict.Verdict, error) {
	in, schedules, start := r.Scenario, 0, r.Now()
	progress := newProgress(r.Err, r.Live, r.Now)
	rows, err := explore.All(ctx, evolution.Table(), in.Actors, r.Bounds, func(s explore.NamedScenario, now explore.Result, ended bool) {
		if ended {
			schedules += now.Schedules
		}
		progress.say(in.Say("%s, %s: %d schedules", "%s，%s：%d 种时序", now.Lock, s.Name, now.Schedules))
	})
	progress.end()
	if err != nil {
		return verdict.Unknown, err
	}
	if r.JSON {
		if err := web.WriteJSON(r.Out, allDocument(rows, in.Actors, schedules)); err != nil {
			return verdict.Unknown, err
		}
	} else {
		r.table(rows)
		r.legend(schedules, interrupted(rows))
	}
	fmt.Fprint(r.Err, in.Say("%d schedules in %.1f s\n", "%d 种时序，用时 %.1f 秒\n", schedules, r.Now().Sub(start).Seconds()))
	for i, row := range rows {
		bounded := evolution.Table()[i].OnNodes // by a bound of its own
		if slices.ContainsFunc(row.Cells, func(c explore.Cell) bool { return c.Cut || !bounded && c.Verdict() == verdict.Unknown }) {
			return verdict.Unknown, nil
		}
	}
	return verdict.Holds, nil
}

// table prints a row for each strategy and a column for each anomaly that any of them shows.
func (r Request) table(rows []explore.Row) {
	in := r.Scenario
	columns, never := []int{}, []string{}
	for i, cell := range rows[0].Cells {
		if slices.ContainsFunc(rows, func(row explore.Row) bool { return row.Cells[i].Verdict() == verdict.Broken }) {
			columns = append(columns, i)
		} else {
			never = append(never, string(cell.Anomaly)+unknownFor(in, rows, i))
		}
	}
	w := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	for _, i := range columns {
		fmt.Fprintf(w, "\t%s", rows[0].Cells[i].Anomaly)
	}
	fmt.Fprintln(w)
	for _, row := range rows {
		fmt.Fprint(w, row.Lock)
		for _, i := range columns {
			fmt.Fprintf(w, "\t%s", row.Cells[i])
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // to a terminal: who reads it sees what is missing
	if len(never) > 0 {
		fmt.Fprint(r.Out, in.Say("\nNo lock that promises to prevent it shows: %s.\n", "\n以下异常，承诺避免它的锁都没有出现：%s。\n",
			strings.Join(never, in.Say(", ", "、"))))
	}
}

// interrupted reports whether all was ended before everything was explored.
func interrupted(rows []explore.Row) bool {
	return slices.ContainsFunc(rows, func(r explore.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c explore.Cell) bool { return c.Cut })
	})
}

// unknownFor says of which locks it is unknown whether they show an anomaly, "" if of none.
func unknownFor(in explore.Scenario, rows []explore.Row, anomaly int) (says string) {
	for _, cut := range []bool{false, true} {
		var names []string
		word := ""
		for _, row := range rows {
			if c := row.Cells[anomaly]; c.Applies && c.Verdict() == verdict.Unknown && c.Cut == cut {
				names, word = append(names, row.Lock), c.String()
			}
		}
		if len(names) > 0 {
			says += in.Say(" (%s: %s)", "（%s：%s）", strings.Join(names, in.Say(", ", "，")), word)
		}
	}
	return says
}

// legend says what the table means.
func (r Request) legend(schedules int, interrupted bool) {
	in, out := r.Scenario, r.Out
	lines := []string{
		in.Say(`expiry, 3    in the scenario "expiry", in 3 steps; no schedule of any scenario is shorter`,
			"expiry, 3    在场景 expiry 下，3 步；任何场景的任何时序都不会更短"),
		in.Say("no fault, 4  without any fault, in 4 steps", "no fault, 4  没有任何故障，4 步"),
		in.Say("never        in no schedule of any scenario below, and all were explored: %d sales, one kind of fault, once, up to %d vain polls",
			"never        下面所有场景的所有时序都探索完了，从不出现：只有 %d 单，只有一种故障，只出一次，最多空轮询 %d 次",
			in.Actors, explore.UsualPolls),
		"unknown      " + explore.UnknownMeans(in.Language) + in.Say(": exploring it alone says which", "：单独探索会说明是哪一种"),
	}
	if interrupted {
		lines = append(lines, in.Say("interrupted  it was interrupted before all schedules were explored", "interrupted  还没探索完就被中断"))
	}
	lines = append(lines, in.Say("–            this lock does not promise that the anomaly never happens", "–            这种锁不承诺避免这种异常"))
	fmt.Fprint(out, in.Say(
		"\nA row is a lock, a column an anomaly. A cell says when the lock shows the anomaly:\n",
		"\n每一行是一种锁，每一列是一种异常。格子里写的是什么时候出现这种异常：\n")+Indent(lines))
	fmt.Fprint(out, in.Say("\nThe anomalies:\n", "\n异常：\n")+Indent(Anomalies(in.Language))+in.Say("\nThe scenarios:\n", "\n场景：\n"))
	for _, s := range explore.Scenarios(in.Actors) {
		fmt.Fprintf(out, "  %-13s %s\n", s.Name, words(r.Command+" NAME", s.String()))
	}
	r.legendOnNodes()
	fmt.Fprint(out, in.Say("\n%d schedules. Left out, as they break every lock that expires, or every lock on one Redis:\n",
		"\n共 %d 种时序。没有包括以下故障：它们能破坏任何会过期的锁，或者单个 Redis 上的任何锁：\n", schedules))
	for _, fault := range explore.AllFaults() {
		if fault.Beats {
			fmt.Fprintf(out, "  %-13s %s v11 --faults %s=1\n", fault.Name, r.Command, fault.Name)
		}
	}
}

// legendOnNodes says what else is so of locks on several masters.
func (r Request) legendOnNodes() {
	in, out := r.Scenario, r.Out
	for _, s := range evolution.Table() {
		if !s.OnNodes {
			continue
		}
		fmt.Fprint(out, in.Say(
			"\nFor %s, every sale tries once, and a scenario has at most %d schedules: --try %d --max-schedules %[2]d.\n"+
				"It has the faults of its masters, too:\n",
			"\n对 %s，每一单只尝试一次，每个场景最多 %d 种时序：--try %d --max-schedules %[2]d。\n它还有主节点的故障：\n",
			s.Name, explore.SchedulesOnNodes, in.Actors))
		for _, named := range explore.ScenariosOf(s, in.Actors) {
			ofNode := func(f explore.Fault) bool { return f.OnNode && f.Name == named.Name }
			if slices.ContainsFunc(explore.AllFaults(), ofNode) {
				fmt.Fprintf(out, "  %-13s %s %s\n", named.Name, r.Command, words(s.Name, named.String()))
			}
		}
	}
}
