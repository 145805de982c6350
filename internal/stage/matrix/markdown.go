package matrix

import (
	"fmt"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

// Markdown writes the matrix as a page of documentation: the same for every run that observes the same. The commands begin with the program
// as it is typed.
func (m Matrix) Markdown(typed string, in language.Language) string {
	w, b := wordsIn(in), &strings.Builder{}
	made := typed + " matrix --markdown"
	if in != language.English {
		made += " --lang " + string(in)
	}
	fmt.Fprintf(b, "# %s\n\n%s\n\n%s\n\n%s\n\n", w.title, w.other, w.intro, fmt.Sprintf(w.made, made))
	m.markdownLegend(b, w)
	fmt.Fprintf(b, "| %s |", w.anomaly)
	for _, s := range m.Strategies {
		fmt.Fprintf(b, " %s |", s)
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat(":-:|", len(m.Strategies)))
	for _, a := range m.Anomalies {
		fmt.Fprintf(b, "| [%s](#%[1]s) |", a.Name)
		for _, s := range m.Strategies {
			fmt.Fprintf(b, " %s |", m.Cells[a.Name][s].marked())
		}
		fmt.Fprintln(b)
	}
	fmt.Fprintf(b, "\n%s\n", w.first)
	for _, a := range m.Anomalies {
		fmt.Fprintf(b, "\n### %s\n\n%s\n\n", a.Name, sentence(translate(in, a.Claim), in))
		fmt.Fprintf(b, "| %s | | %s | %s |\n|---|---|---|---|\n", w.locks, w.why, w.see)
		for _, g := range m.groups(a.Name) {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", strings.Join(g.strategies, "` `"), g.says(w), translate(in, g.cell.Why), g.see(typed))
		}
	}
	return b.String()
}

// markdownLegend says what the signs mean.
func (m Matrix) markdownLegend(b *strings.Builder, w words) {
	var all []string
	for _, o := range marks() {
		if m.Count(func(c Cell) bool { return c.Observed == o }) > 0 {
			all = append(all, mark(o)+" "+w.observed(o))
		}
	}
	fmt.Fprintf(b, "%s\n\n", strings.Join(all, " · "))
}

// group is strategies of which the same was observed, for the same reason.
type group struct {
	strategies []string
	cell       Cell // of the first of them
}

// groups gives a row's, in the order of their first strategies.
func (m Matrix) groups(anomaly string) (all []*group) {
	type kind struct {
		observed, expected lab.Observed
		why, how           string
	}
	known := map[kind]*group{}
	for _, s := range m.Strategies {
		c := m.Cells[anomaly][s]
		this := kind{c.Observed, c.Expected, c.Why, strings.ReplaceAll(c.How+" ", " "+s+" ", " LOCK ")}
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

// says is what was observed of a group.
func (g *group) says(w words) string {
	says := w.observed(g.cell.Observed)
	if !g.cell.AsExpected() {
		says += " (" + fmt.Sprintf(w.expected, w.observed(g.cell.Expected)) + ")"
	}
	return says
}

// see is the command.
func (g *group) see(typed string) string {
	if g.cell.How == "" {
		return ""
	}
	return "`" + typed + " " + g.cell.How + "`"
}

// sentence makes a claim one.
func sentence(claim string, in language.Language) string {
	if in == language.Chinese {
		return strings.TrimSuffix(claim, "。") + "。"
	}
	return strings.ToUpper(claim[:1]) + claim[1:] + "."
}
