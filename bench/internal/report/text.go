package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// Text writes all tables and the goals as plain text.
func Text(w io.Writer, run result.Run, all []contestants.Contestant) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s", formatMachine(run.Machine), formatPings(run.Pings))
	list, buyers := tableSettings(run)
	for _, s := range list {
		fmt.Fprintf(&text, "\n%s\n", strings.ToUpper(s.String()))
		for _, t := range newTables(run, all, s, buyers[s], columns()) {
			fmt.Fprintf(&text, "\n%s\n", t.title)
			t.text(&text)
		}
	}
	if t := goalTable(run); len(t.rows) > 0 {
		met, total := countMet(run)
		fmt.Fprintf(&text, "\n%s: %d of %d met\n", t.title, met, total)
		t.text(&text)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (t table) text(w io.Writer) {
	aligned := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, row := range append([][]string{t.head}, t.rows...) {
		fmt.Fprintln(aligned, strings.TrimSuffix(strings.ReplaceAll(strings.Join(row, "\t"), "**", ""), "\t"))
	}
	_ = aligned.Flush() // w is a strings.Builder, which cannot fail
}

func formatMachine(m result.Machine) string {
	return fmt.Sprintf("%d × %s, %s; Go %s, %s", m.Cores, m.CPU, m.Kernel, strings.TrimPrefix(m.Go, "go"), m.Redis)
}

func formatPings(pings []result.Ping) string {
	text := ""
	for _, p := range pings {
		text += fmt.Sprintf("PING with %g ms added: %.2f ms\n", p.AddedMillis, p.MedianMillis)
	}
	return text
}
