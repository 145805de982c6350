package exhibit

import (
	"fmt"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"lockstep/locktest"
	"lockstep/museum/internal/library"
)

// Entry is a library, and what it has shown.
type Entry struct {
	library.Library
	Findings
}

// Markdown writes the tables.
func Markdown(entries []Entry) string {
	var b strings.Builder
	b.WriteString("| name | library | how it is used here | what it promises |\n|---|---|---|---|\n")
	before := ""
	for _, e := range entries {
		promise := e.promise()
		if promise == before {
			promise = "as above"
		} else {
			before = promise
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Name, e.version(), e.Usage, promise)
	}
	b.WriteString("\n" + heads)
	for _, e := range entries {
		for _, row := range e.Rows {
			b.WriteString(row.markdown("`" + e.Name + "`"))
		}
		if never := e.never(); never != "" {
			fmt.Fprintf(&b, "| `%s` | %s | | never | %s |\n", e.Name, never, e.extent())
		}
	}
	return b.String()
}

// promise is what a library says of itself.
func (e Entry) promise() string {
	switch {
	case e.Says != "":
		return fmt.Sprintf("“%s” ([source](%s))", e.Says, e.Source)
	case e.PortOf != "":
		return "see the issue"
	default:
		return "see [the steps](../README.md)"
	}
}

// heads are those of a table of schedules.
const heads = "| name | anomaly | what may go wrong | steps | replay |\n|---|---|---|---|---|\n"

// markdown writes a row of a table of schedules, under a name.
func (r Row) markdown(name string) string {
	return fmt.Sprintf("| %s | %s | %s | %d | `%s` |\n", name, r.Anomaly, r.allows(), r.Steps(), r.Replay())
}

// MarkdownOfOlder writes the table of older versions, with what each has shown.
func MarkdownOfOlder(shown map[Old]Findings) string {
	var b strings.Builder
	b.WriteString(heads)
	for _, old := range Older() {
		for _, row := range shown[old].Rows {
			row.Modfile = old.Modfile
			b.WriteString(row.markdown(fmt.Sprintf("`%s` %s ([%s](%s))", old.Library, old.Version, path.Base(old.Issue), old.Issue)))
		}
	}
	return b.String()
}

// version is the module and its version that this program was built with.
func (e Entry) version() string {
	switch {
	case e.PortOf != "":
		return "a port of " + e.PortOf
	case e.Module == "":
		return "lockstep"
	}
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == e.Module {
			return e.Module + " " + dependency.Version
		}
	}
	return e.Module
}

// allows says what may go wrong in a row's scenario.
func (r Row) allows() string {
	var parts []string
	if r.Scenario.Actors != 2 {
		parts = append(parts, fmt.Sprintf("%d actors", r.Scenario.Actors))
	}
	if r.Scenario.Together {
		parts = append(parts, "two of them in one process")
	}
	if faults := r.Scenario.Faults; faults != "" {
		parts = append(parts, faults)
	}
	if r.Yields {
		parts = append(parts, "a new goroutine goes first")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// Replay is the command that replays a row.
func (r Row) Replay() string {
	text := "go run"
	if r.Modfile != "" {
		text += " -modfile " + r.Modfile
	}
	text += " . -library " + r.Library
	if flags := r.Scenario.String(); flags != "" {
		text += " " + flags
	}
	if r.Yields {
		text += " -yield"
	}
	return fmt.Sprintf("%s -replay %q", text, r.Schedule)
}

// never lists the anomalies that were looked for and not found.
func (f Findings) never() string {
	var names []string
	for _, a := range Anomalies() {
		if !slices.ContainsFunc(f.Rows, func(r Row) bool { return r.Anomaly == a }) {
			names = append(names, string(a))
		}
	}
	return strings.Join(names, ", ")
}

// extent says how much was looked at.
func (f Findings) extent() string {
	var depths []int // depth of each scenario that was not explored completely
	runs := 0
	for _, e := range f.Explored {
		runs += e.Runs
		if !e.Complete {
			depths = append(depths, e.Depth)
		}
	}
	if len(depths) == 0 {
		return fmt.Sprintf("in every schedule (%d runs)", runs)
	}
	return fmt.Sprintf("in every schedule of %d of %d scenarios, and up to %d steps of the others (%d runs)",
		len(f.Explored)-len(depths), len(f.Explored), slices.Min(depths), runs)
}

// Legend explains the words of the tables.
func Legend() string {
	var b strings.Builder
	b.WriteString("| anomaly | what it is here |\n|---|---|\n")
	for _, a := range Anomalies() {
		fmt.Fprintf(&b, "| %s | %s |\n", a, a.Says())
	}
	b.WriteString("\n| fault | what happens |\n|---|---|\n")
	for _, f := range locktest.Faults() {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, f.Says)
	}
	return b.String()
}
