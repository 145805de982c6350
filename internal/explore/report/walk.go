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

// walk is an interactive session in a terminal. On a screen (request.Columns is not nil), each step redraws everything.
type walk struct {
	request     Request          // request that started the walk
	session     *session.Session // schedule so far
	lastDiagram string           // latest diagram printed; "": none yet
}

// Walk lets the user choose each step, after the steps of Schedule. The verdict is Broken if an anomaly was shown.
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
		case line, ok := <-r.In:
			if !ok || line == "q" {
				return w.finish(), nil
			}
			if w.request.Columns == nil {
				fmt.Fprintln(w.request.Out, line) // A terminal has echoed it already.
			}
			w.draw(w.execute(ctx, line))
		case <-ctx.Done():
			return w.finish(), nil
		}
	}
}

// execute executes a typed line and returns the message to print; "": none.
func (w *walk) execute(ctx context.Context, line string) (message string) {
	switch line {
	case "":
		return ""
	case "u":
		if !w.session.Undo() {
			return atStartText(w.request.Scenario)
		}
		return ""
	case "d":
		return w.distances(ctx)
	case "?":
		return w.helpText()
	}
	choices := w.session.Now().Choices
	if n, err := strconv.Atoi(line); err == nil {
		if n < 1 || n > len(choices) {
			return noChoiceText(n, w.request.Scenario)
		}
		line = choices[n-1].Token
	}
	for token := range strings.FieldsSeq(line) {
		if err := w.session.Take(token); err != nil {
			return w.refusalText(token, err)
		}
	}
	return ""
}

// distances returns lines with the shortest path to each anomaly.
func (w *walk) distances(ctx context.Context) string {
	var lines []string
	for _, a := range explore.Anomalies() {
		if !a.IsPromisedBy(w.request.Lock) {
			continue
		}
		hint, err := session.ShortestPath(ctx, w.session, a, explore.Bounds{Schedules: maxSchedulesPerQuestion})
		if err != nil {
			return err.Error()
		}
		var further []string
		if hint.Steps > 0 {
			further = strings.Fields(hint.Schedule)[len(w.session.Path()):]
		}
		lines = append(lines, distanceText(a, hint.Steps, further, w.request.Scenario))
	}
	return distancesHeading(w.request.Scenario) + strings.Join(lines, "\n")
}

// draw prints the schedule so far, the choices and a message. On a screen it redraws everything, and truncates each line to the width,
// because wrapped lines would break the diagram.
func (w *walk) draw(message string) {
	page := w.diagram() + w.menu()
	if message != "" {
		page += "\n" + strings.TrimRight(message, "\n") + "\n"
	}
	if w.request.Columns != nil {
		page = "\033[H\033[2J" + truncateLines(w.request.Columns(), page) // cursor to the top left, then clear the screen
	}
	fmt.Fprint(w.request.Out, page, promptText(w.request.Scenario))
}

// diagram returns the diagram of the schedule. Without a screen, it returns only the rows that were not printed before.
func (w *walk) diagram() string {
	v := w.session.Now()
	all := v.EachStep(false)
	rows, ok := strings.CutPrefix(all, w.lastDiagram)
	if w.request.Columns != nil || !ok {
		rows = all
	}
	w.lastDiagram = all
	for _, s := range v.Hits {
		rows += anomalyHitText(w.request.Scenario, s)
	}
	return rows + "\n"
}

// menu returns a list of the choices, numbered from 1, and of the steps that cannot happen.
func (w *walk) menu() string {
	v := w.session.Now()
	column := 0
	for _, token := range v.Tokens() {
		column = max(column, len(token))
	}
	var b strings.Builder
	for i, c := range v.Choices {
		fmt.Fprintf(&b, "%3d  %-*s  %s\n", i+1, column, c.Token, w.choiceText(c))
	}
	for _, d := range v.Disabled {
		fmt.Fprintf(&b, "  –  %-*s  %s\n", column, d.What, d.Why)
	}
	if v.Over {
		b.WriteString(noneLeftText(w.request.Scenario))
	}
	return b.String()
}

// truncateLines truncates each line to a width in columns; 0: not at all. A Chinese character takes two columns.
func truncateLines(width int, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if width > 0 && uniseg.StringWidth(strings.TrimSuffix(line, "\n")) > width {
			runes := []rune(line)
			for uniseg.StringWidth(string(runes)) > width-1 {
				runes = runes[:len(runes)-1]
			}
			lines[i] = string(runes) + "…\n"
		}
	}
	return strings.Join(lines, "")
}

// finish prints the command that replays the schedule, and returns the verdict.
func (w *walk) finish() verdict.Verdict {
	fmt.Fprintln(w.request.Out)
	v := w.session.Now()
	if v.Schedule != "" {
		fmt.Fprint(w.request.Out, replayText(w.request.replayCommand(v.Schedule)+w.request.LangFlag, w.request.Scenario))
	}
	return verdict.Search{Found: len(v.Hits) > 0, Complete: true}.Verdict()
}
