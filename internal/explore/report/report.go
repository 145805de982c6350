// Package report runs the explorer for lockstep explore and for the page, and presents the results: as text, as a table, as a JSON
// document, as a page to step through, or as a dialog in a terminal. Begin with Request, whose methods are the kinds of answers.
package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
)

// Request is a question to the explorer, and the form of the answer.
type Request struct {
	Lock     strategy.Strategy // lock to explore
	Scenario explore.Scenario  // scenario to explore
	Bounds   explore.Bounds    // bounds of the exploration
	Anomaly  explore.Anomaly   // only anomaly to look for; "": all that the lock promises to prevent
	Each     bool              // continue after the first counterexample, to one for each anomaly
	Why      bool              // explain each counterexample
	Schedule string            // schedule that is replayed or compared, or that Walk begins with
	Against  strategy.Strategy // second lock of Compare

	JSON, Mermaid bool      // form of the answer on Out; neither: text
	Page          *web.File // HTML file for the schedules; nil: none

	Command    string           // beginning of printed commands, as the user typed it: "lockstep explore"
	LangFlag   string           // end of printed commands: the language flag, as the user typed it; "": not typed
	In         <-chan string    // lines typed during Walk
	Out, Err   io.Writer        // destinations of the answer, and of progress and remarks
	Columns    func() int       // width of Out in columns; nil: Out is not a terminal
	IsTerminal bool             // Err is a terminal
	Now        func() time.Time // clock, in real time

	Progress func(explore.Result) // called during an exploration; nil: progress is printed on Err
}

// Explore explores the lock and prints the result.
func (r Request) Explore(ctx context.Context) (verdict.Verdict, error) {
	result, err := r.explore(ctx)
	if err != nil {
		return verdict.Unknown, err
	}
	whys, err := r.explainAll(ctx, result.Found)
	if err != nil {
		return verdict.Unknown, err
	}
	if err := r.printResult(result, whys); err != nil {
		return verdict.Unknown, err
	}
	return result.Verdict(), r.writeCounterexamples(result.Found)
}

// goal returns the goal of the exploration. It fails if an anomaly is requested that the lock does not promise to prevent.
func (r Request) goal() (explore.Goal, error) {
	goal := explore.Goal{All: r.Each, Progress: r.Progress}
	if r.Anomaly == "" {
		return goal, nil
	}
	segmented, why := r.Lock.Update == strategy.Segmented, language.Both("it keeps no lock in Redis", "它在 Redis 里没有锁")
	if segmented {
		why = language.Both("it has a lock for each segment, and v11 shows what that promises", "它每段各有一把锁，那把锁承诺什么，见 v11")
	}
	if !r.Anomaly.IsPromisedBy(r.Lock) && (segmented || !r.Anomaly.IsOnRequest()) {
		return goal, language.Translate(fmt.Errorf("anomaly: %s does not promise that %s never happens: %s; "+
			"without --anomaly, explore searches for all anomalies that it promises to prevent", r.Lock.Name, r.Anomaly, why.In(language.English)),
			"%s 不承诺避免 %s：%s；不加 --anomaly 则搜索它承诺避免的全部异常", r.Lock.Name, r.Anomaly, why.In(language.Chinese))
	}
	goal.Anomalies = []explore.Anomaly{r.Anomaly}
	return goal, nil
}

// explore explores the lock and reports progress.
func (r Request) explore(ctx context.Context) (explore.Result, error) {
	goal, err := r.goal()
	if err != nil {
		return explore.Result{}, err
	}
	if goal.Progress == nil {
		progress := newProgress(r.Err, r.IsTerminal, r.Now)
		defer progress.end()
		goal.Progress = func(now explore.Result) {
			progress.update(progressText(now, r.Scenario))
		}
	}
	return explore.Explore(ctx, r.Lock, r.Scenario, goal, r.Bounds)
}

// messageWriter returns the writer for sentences: Err if Out receives a document, Out otherwise.
func (r Request) messageWriter() io.Writer {
	if r.JSON || r.Mermaid {
		return r.Err
	}
	return r.Out
}

// printResult prints the result of an exploration.
func (r Request) printResult(result explore.Result, whys []*session.Explanation) error {
	messages := r.messageWriter()
	if r.JSON {
		if err := web.WriteJSON(r.Out, newDocument(result, whys)); err != nil {
			return err
		}
	}
	if result.Verdict() == verdict.Broken {
		r.printCounterexamples(result, whys)
	} else {
		fmt.Fprintln(messages, strings.Join(slices.Concat([]string{r.verdictText(result), sizeText(result)}, coverageLines(result)), "\n"))
	}
	if result.Bound() != "" && !result.Interrupted {
		fmt.Fprintln(r.Err, boundFlagsText(r.Scenario))
	}
	fmt.Fprintln(r.Err, speedText(result, r.Scenario))
	return nil
}

// printCounterexamples prints each counterexample.
func (r Request) printCounterexamples(result explore.Result, whys []*session.Explanation) {
	messages := r.messageWriter()
	if r.Each {
		fmt.Fprintln(messages, r.verdictText(result))
	}
	for i, e := range result.Found {
		if i > 0 || r.Each {
			fmt.Fprintln(messages)
		}
		if r.Mermaid {
			fmt.Fprint(r.Out, e.Mermaid())
		}
		fmt.Fprintln(messages, r.counterexampleText(e))
		fmt.Fprintln(messages, e.Legend())
		if !r.Mermaid {
			fmt.Fprintln(messages, e.Sequence())
		}
		r.printExplanation(messages, whys[i])
		fmt.Fprintln(messages, r.stepByStepText(e.Schedule()))
	}
}

// replayCommand returns the command that replays a schedule.
func (r Request) replayCommand(schedule string) string { return r.replayCommandFor(r.Lock, schedule) }

// replayCommandFor is like replayCommand, for any lock.
func (r Request) replayCommandFor(s strategy.Strategy, schedule string) string {
	return fmt.Sprintf("%s --replay %q", joinWords(r.Command, s.Name, r.Scenario.String()), schedule)
}

// joinWords joins the non-empty words with spaces.
func joinWords(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// FaultLines returns a line for each fault, with its name and description.
func FaultLines(in language.Language) (lines []string) {
	for _, f := range explore.AllFaults() {
		lines = append(lines, fmt.Sprintf("%-13s %s", f.Name, f.Description.In(in)))
	}
	return lines
}

// AnomalyLines returns a line for each anomaly that the explorer looks for, with its name and definition.
func AnomalyLines(in language.Language) (lines []string) {
	for _, a := range explore.Anomalies() {
		lines = append(lines, fmt.Sprintf("%-16s %s", a, a.Row().Says.In(in)))
	}
	return lines
}

// Indent joins lines, each indented by two spaces.
func Indent(lines []string) string { return "  " + strings.Join(lines, "\n  ") + "\n" }
