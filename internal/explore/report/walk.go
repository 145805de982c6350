package report

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/lock/verdict"
)

// walk is a session in a terminal: if Columns is not nil, each step draws it anew.
type walk struct {
	Request

	session *session.Session
	drawn   string // the diagram, as far as it stands there
}

// Walk lets a person choose each step, from the start or from the end of the schedule. The verdict is Broken if an anomaly shows.
func (r Request) Walk(ctx context.Context) (verdict.Verdict, error) {
	session, err := session.New(r.Lock, r.Scenario, r.Schedule)
	if err != nil {
		return verdict.Unknown, err
	}
	defer session.Close()
	w := walk{Request: r, session: session}
	w.draw("")
	for {
		select {
		case line, more := <-r.In:
			if !more || line == "q" {
				return w.end(), nil
			}
			if w.Columns == nil {
				fmt.Fprintln(w.Out, line) // else it stands there already
			}
			w.draw(w.do(ctx, line))
		case <-ctx.Done():
			return w.end(), nil
		}
	}
}

// do does what was typed, and gives what there is to say of it.
func (w *walk) do(ctx context.Context, typed string) (says string) {
	switch typed {
	case "":
		return ""
	case "u":
		if !w.session.Undo() {
			return w.Scenario.Say("This is the start.", "这里是起点。")
		}
		return ""
	case "d":
		return w.distances(ctx)
	case "?":
		return w.help()
	}
	choices := w.session.Now().Choices
	if n, err := strconv.Atoi(typed); err == nil {
		if n < 1 || n > len(choices) {
			return w.Scenario.Say("There is no %d.", "没有第 %d 项。", n)
		}
		typed = choices[n-1].Token
	}
	for token := range strings.FieldsSeq(typed) {
		if err := w.session.Take(token); err != nil {
			return w.notNow(token, err)
		}
	}
	return ""
}

// notNow says why a token is not taken.
func (w *walk) notNow(token string, err error) string {
	var stale *explore.StaleError
	switch {
	case errors.Is(err, explore.ErrMalformed):
		return w.Scenario.Say("%s is no step. Type a number, or a token of the list; explore --help shows how steps are written.",
			"%s 不是一步。请输入序号，或列表里的一步；写法见 explore --help。", token)
	case errors.As(err, &stale):
		return w.Scenario.Say("%s cannot happen now: %s.", "%s 现在不能发生：%s。", token, stale.Why)
	default:
		return fmt.Sprintf("%s: %v.", token, err)
	}
}

func (w *walk) help() string {
	return w.Scenario.Say(`A thick line is a sale that believes that it holds the lock; [lock: A] says whose it is in truth.
Type the number of a choice, or its token. Several tokens are several steps.
  u  takes the last step back
  d  says how many further steps an anomaly is away
  q  ends, and prints the command that replays the schedule
A fault can happen as often as --faults says. What is listed below the choices cannot happen now.
`, `粗线表示这一单认为自己持有锁；[锁：A] 是锁实际的持有者。
输入一项的序号，或它的写法；一行可以写多步。
  u  撤销上一步
  d  显示离每种异常最少还有几步
  q  结束，并打印重放这个时序的命令
每种故障能发生几次，由 --faults 决定。选项下方列出的，现在不能发生。
`)
}

// distances says how far each anomaly is away.
func (w *walk) distances(ctx context.Context) string {
	var says []string
	for _, a := range explore.Anomalies() {
		if !a.IsPromisedBy(w.Lock) {
			continue
		}
		d, err := session.Away(ctx, w.session, a, explore.Bounds{Schedules: schedulesAsked})
		switch {
		case err != nil:
			return err.Error()
		case d.Steps == session.Never:
			says = append(says, w.Scenario.Say("  %-16s never, whatever happens from here", "  %-16s 无论怎样继续都不会出现", a))
		case d.Steps == session.Unknown:
			says = append(says, w.Scenario.Say("  %-16s not within %d schedules", "  %-16s %d 种时序内没有出现", a, schedulesAsked))
		case d.Steps == 0:
			says = append(says, w.Scenario.Say("  %-16s has shown", "  %-16s 已经出现", a))
		default:
			further := strings.Fields(d.Schedule)[len(w.session.Path()):]
			says = append(says, w.Scenario.Say("  %-16s in %d: %s", "  %-16s 还有 %d 步：%s", a, d.Steps, strings.Join(further, " ")))
		}
	}
	return w.Scenario.Say("The fewest further steps until an anomaly shows:\n", "到出现异常最少还有几步：\n") + strings.Join(says, "\n")
}

// draw shows the schedule so far, and what can happen next. A screen gets it anew, each line cut to its
// width, so that the diagram stays one.
func (w *walk) draw(says string) {
	page := w.diagram() + w.menu()
	if says != "" {
		page += "\n" + strings.TrimRight(says, "\n") + "\n"
	}
	if w.Columns != nil {
		page = "\033[H\033[2J" + cutTo(w.Columns(), page) // to the top, and nothing else on it
	}
	fmt.Fprint(w.Out, page, w.Scenario.Say("\nnumber or token, u: undo, d: distance, ?: help, q: quit > ", "\n序号或写法，u：撤销，d：距离，?：帮助，q：退出 > "))
}

// diagram draws the schedule, or what a terminal that is no screen does not have of it.
func (w *walk) diagram() string {
	v := w.session.Now()
	all := v.Trace.EachStep(false)
	rows, goesOn := strings.CutPrefix(all, w.drawn)
	if w.Columns != nil || !goesOn {
		rows = all
	}
	w.drawn = all
	for _, s := range v.Shown {
		rows += shows(w.Scenario, s)
	}
	return rows + "\n"
}

// menu lists what can happen next, and what cannot.
func (w *walk) menu() string {
	v := w.session.Now()
	column := 0
	for _, token := range v.Tokens() {
		column = max(column, len(token))
	}
	var b strings.Builder
	for i, c := range v.Choices {
		fmt.Fprintf(&b, "%3d  %-*s  %s\n", i+1, column, c.Token, w.inOneLine(c))
	}
	for _, d := range v.Disabled {
		fmt.Fprintf(&b, "  –  %-*s  %s\n", column, d.What, d.Why)
	}
	if v.Over {
		b.WriteString(w.Scenario.Say("  –  nothing more can happen\n", "  –  已经没有下一步\n"))
	}
	return b.String()
}

// inOneLine says what a choice does.
func (w *walk) inOneLine(c session.Choice) string {
	if c.Fault != "" {
		return w.Scenario.Say("%s (%s)", "%s（%s）", c.Says, c.Fault)
	}
	return c.Says
}

// cutTo cuts each line to so many columns; 0: not at all. A Chinese sign takes two.
func cutTo(width int, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if width > 0 && uniseg.StringWidth(strings.TrimSuffix(line, "\n")) > width {
			signs := []rune(line)
			for uniseg.StringWidth(string(signs)) > width-1 {
				signs = signs[:len(signs)-1]
			}
			lines[i] = string(signs) + "…\n"
		}
	}
	return strings.Join(lines, "")
}

// end prints how to replay the schedule, and returns the verdict.
func (w *walk) end() verdict.Verdict {
	fmt.Fprintln(w.Out)
	v := w.session.Now()
	if v.Schedule != "" {
		fmt.Fprint(w.Out, w.Scenario.Say("\nReplay it: %s\n", "\n重放：%s\n", w.replayCommand(v.Schedule)))
	}
	return verdict.Of(len(v.Shown) > 0, true)
}
