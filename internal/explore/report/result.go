package report

import (
	"context"
	"strings"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/verdict"
)

// ExplorationResult is the result of an exploration for a page: the document, and the sentences that a terminal prints.
type ExplorationResult struct {
	Document Document `json:"document"` // document that explore --json prints
	Scenario string   `json:"scenario"` // scenario, as flags of lockstep explore
	Says     string   `json:"says"`     // sentence with the verdict, without the flags
	SizeText string   `json:"seen"`     // sentence with the size of the exploration
	Tested   []string `json:"tested"`   // sentences about what the exploration covered

	Counterexamples []Schedule `json:"shown"` // counterexamples of the document, to step through

	isProven    bool // every schedule was explored and judged, and none shows an anomaly
	isContended bool // in some state a sale waits while another one is in the critical section
}

// Result explores the lock and prints nothing. Explaining the counterexamples may take as long again as Bounds.Time.
func (r Request) Result(ctx context.Context) (ExplorationResult, error) {
	found, err := r.explore(ctx)
	if err != nil {
		return ExplorationResult{}, err
	}
	if r.Bounds.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Bounds.Time)
		defer cancel()
	}
	whys, err := r.explainAll(ctx, found.Found)
	if err != nil {
		return ExplorationResult{}, err
	}
	flags := found.Conditions() // The page shows the scenario beside the verdict, in words.
	says := strings.NewReplacer(" ("+flags+")", "", "（"+flags+"）", "").Replace(r.verdictText(found))
	result := ExplorationResult{
		Document: newDocument(found, whys), Scenario: r.Scenario.String(), Says: says, SizeText: sizeText(found),
		Tested: append([]string{}, coverageLines(found)...), Counterexamples: []Schedule{},
		isProven:    len(found.Found) == 0 && found.Complete && !found.Coverage.Undecided && len(found.Unjudged()) == 0,
		isContended: found.Coverage.ContendedStates > 0,
	}
	for i, e := range found.Found {
		var why strings.Builder
		r.printExplanation(&why, whys[i])
		schedule := r.counterexampleSchedule(e)
		schedule.VerdictText, schedule.Why = r.counterexampleText(e), strings.TrimSpace(why.String())
		result.Counterexamples = append(result.Counterexamples, schedule)
	}
	return result, nil
}

// ProveAllScenarios explores the lock in each scenario of the table of all locks. It stops at the first scenario that shows an anomaly or
// leaves a question open, and returns the result of that scenario. Otherwise it returns a summary.
func (r Request) ProveAllScenarios(ctx context.Context) (all ExplorationResult, err error) {
	scenario, schedules, seconds := r.Scenario, 0, 0.0
	progress := r.Progress
	r.Progress = func(now explore.Result) {
		now.Schedules += schedules
		progress(now)
	}
	lines, isContended := []string{}, false
	for _, named := range explore.ScenariosFor(r.Lock, scenario.Actors) {
		r.Scenario = named.Scenario
		r.Scenario.Language = scenario.Language
		all, err = r.Result(ctx)
		if err != nil || !all.isProven {
			return all, err
		}
		isContended = isContended || all.isContended
		schedules, seconds = schedules+all.Document.Schedules, seconds+all.Document.Seconds
		lines = append(lines, scenarioTitle(named.Name, scenario)+scenario.Say(": ", "：")+all.SizeText)
	}
	if r.Anomaly == anomaly.Starved && !isContended { // the answer about the last scenario says that nobody waited in it
		return all, nil
	}
	sought := string(r.Anomaly)
	if sought == "" {
		sought = scenario.Say("an anomaly", "任何异常")
	}
	all.Says = scenario.Say("%s never shows %s: every schedule of all %d scenarios was explored.",
		"%s 从不出现 %s：%d 个场景的所有时序都探索过。", r.Lock.Name, sought, len(lines))
	all.SizeText, all.Tested = scenario.Say("%d schedules.", "%d 种时序。", schedules), lines
	all.Document.Verdict, all.Document.Cut, all.Document.Seconds = verdict.Holds, []string{}, seconds
	return all, nil
}

// scenarioTitle returns the display name of a scenario of the table.
func scenarioTitle(name string, scenario explore.Scenario) string {
	switch name {
	case "no fault":
		return scenario.Say("no fault", "没有故障")
	case "nested":
		return scenario.Say("nested calls", "嵌套调用")
	case "try":
		return scenario.Say("one attempt each", "每单只试一次")
	case "work":
		return scenario.Say("long work", "业务耗时长")
	case "skew":
		return scenario.Say("clock skew", "时钟偏差")
	}
	for _, fault := range explore.AllFaults() {
		if fault.Name == name {
			return fault.Title.In(scenario.Language)
		}
	}
	return name
}

// longestSchedule returns the length of the longest schedule that was run. A counterexample may be longer than Depth, the length up to
// which all schedules were explored.
func longestSchedule(r explore.Result) int {
	steps := r.Depth
	for _, e := range r.Found {
		steps = max(steps, e.Length())
	}
	return steps
}
