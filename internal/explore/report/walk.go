package report

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/verdict"
)

// walk is a session in a terminal: if Columns is not nil, each step draws it anew.
type walk struct {
	request Request
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
	w := walk{request: r, session: session}
	w.draw("")
	for {
		select {
		case line, more := <-r.In:
			if !more || line == "q" {
				return w.end(), nil
			}
			if w.request.Columns == nil {
				fmt.Fprintln(w.request.Out, line) // else it stands there already
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
			return atStart(w.request.Scenario)
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
			return noChoice(n, w.request.Scenario)
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

// distances says how far each anomaly is away.
func (w *walk) distances(ctx context.Context) string {
	var says []string
	for _, a := range explore.Anomalies() {
		if !a.IsPromisedBy(w.request.Lock) {
			continue
		}
		d, err := session.Away(ctx, w.session, a, explore.Bounds{Schedules: schedulesAsked})
		if err != nil {
			return err.Error()
		}
		var further []string
		if d.Steps > 0 {
			further = strings.Fields(d.Schedule)[len(w.session.Path()):]
		}
		says = append(says, distanceSays(a, d.Steps, further, w.request.Scenario))
	}
	return distancesSay(w.request.Scenario) + strings.Join(says, "\n")
}

// draw shows the schedule so far, and what can happen next. A screen gets it anew, each line cut to its
// width, so that the diagram stays one.
func (w *walk) draw(says string) {
	page := w.diagram() + w.menu()
	if says != "" {
		page += "\n" + strings.TrimRight(says, "\n") + "\n"
	}
	if w.request.Columns != nil {
		page = "\033[H\033[2J" + cutTo(w.request.Columns(), page) // to the top, and nothing else on it
	}
	fmt.Fprint(w.request.Out, page, prompt(w.request.Scenario))
}

// diagram draws the schedule, or what a terminal that is no screen does not have of it.
func (w *walk) diagram() string {
	v := w.session.Now()
	all := v.EachStep(false)
	rows, goesOn := strings.CutPrefix(all, w.drawn)
	if w.request.Columns != nil || !goesOn {
		rows = all
	}
	w.drawn = all
	for _, s := range v.Hits {
		rows += shows(w.request.Scenario, s)
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
		b.WriteString(noneLeft(w.request.Scenario))
	}
	return b.String()
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
	fmt.Fprintln(w.request.Out)
	v := w.session.Now()
	if v.Schedule != "" {
		fmt.Fprint(w.request.Out, replaySays(w.request.replayCommand(v.Schedule), w.request.Scenario))
	}
	return verdict.Search{Found: len(v.Hits) > 0, Complete: true}.Verdict()
}
