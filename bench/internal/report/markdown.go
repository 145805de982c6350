package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

const head = `# Benchmarks

<!-- written by bench (go run . -markdown ../docs/benchmarks.md); changes by hand are lost -->

The same sale (lock, read the stock, write one less and the order, unlock) runs on a real Redis under the locks of the evolution, under
popular libraries, and in two ways without a lock. Sales under one lock are serial, so its speed is given as a share of the **limit**: one
buyer without a lock, measured in each repetition.

`

const picture = `![Share of the limit, longest wait over mean, and share of the buyers that never got in](benchmarks.svg)

`

const howToRead = `
## How to read it

- A cell is the median of the repetitions, with the least and the most. Contestants run in random order.
- Buyers buy again at once, which favours locks without a queue: the buyer that has just bought asks first.
- After a warm-up, the window is at least three times what the limit takes to serve all buyers.
- A buyer that never got the lock counts with its wait so far. For a perfect queue, the longest wait over the mean is 1. Where many buyers
  never got in, all waits are equally long: see their number first.
- Requests are all that the clients wrote within the window, polls and renewals too. Two are the sale's.
- A sale that waits for no other takes four round trips, and the limit two: a share of 0.5. A lock exceeds it by handing over to the next
  sale, or by staying with its process, as v11.
- Taking and releasing redlock is ten requests to five servers, but its sales hand the lock on within a process.
- Sales of atomic, and of segmented with its eight locks, are not serial. optimistic sends five requests in three round trips, and starts
  over after a random pause if the stock has changed. The picture omits these.
- [The matrix](MATRIX.md#what-each-step-gains) has v1–v3, v5 and delex.
`

// statuses explains the cells without a number. Most runs have none.
const statuses = `- A cell is **broken** if the stock did not fall by exactly the number of sales.
- A contestant **hung** if it sold nothing in the last half of the window, or had to be ended.
`

const howToRun = `
## How to run it

` + "```sh\ncd bench\ngo run . -help\ngo run . %s\n```\n\n" +
	"The terminal also shows one process. Without `-steps`, bench also measures 2 and 1,000 buyers, and no added delay.\n" +
	"`-json` writes everything.\n"

// Markdown writes docs/benchmarks.md: the findings, how to read them, and the tables by which to choose a lock.
func Markdown(w io.Writer, run result.Run, all []contestants.Contestant) error {
	all = pageContestants(all)
	var text strings.Builder
	text.WriteString(head)
	if found := findings(run); found != "" {
		fmt.Fprintf(&text, "%s\n\n", found)
	}
	text.WriteString(picture)
	fmt.Fprintf(&text, "Measured on %s, in %v: %s.\n\n", run.Began.Format(time.DateOnly),
		(time.Duration(run.Seconds) * time.Second).String(), formatMachine(run.Machine))
	s := run.Settings
	fmt.Fprintf(&text, "Repetitions: %d; retry pause %g ms, expiry %g s, longest wait %g s.",
		s.Repeat, s.RetryMillis, s.TTLMillis/1000, s.WaitMillis/1000)
	for _, p := range run.Pings {
		fmt.Fprintf(&text, " With %g ms added a PING takes %.2f ms.", p.AddedMillis, p.MedianMillis)
	}
	text.WriteString("\n")
	text.WriteString(howToRead)
	if slices.ContainsFunc(run.Cells, func(c result.Cell) bool { return c.Status != result.OK }) {
		text.WriteString(statuses)
	}
	measured := run.Contestants(all)
	for _, c := range all {
		if c.Kind == contestants.Library && slices.Contains(measured, c.Name) {
			fmt.Fprintf(&text, "- `%s`: %s.\n", c.Name, c.Title)
		}
	}
	list, buyers := tableSettings(run)
	for _, s := range list {
		shown := pageColumns(run, s)
		if len(shown) == 0 {
			continue
		}
		title := s.String()
		fmt.Fprintf(&text, "\n## %s%s\n", strings.ToUpper(title[:1]), title[1:])
		for _, t := range joinForPage(newTables(run, all, s, buyers[s], shown)) {
			fmt.Fprintf(&text, "\n### %s%s\n\n", strings.ToUpper(t.title[:1]), t.title[1:])
			t.markdown(&text)
		}
	}
	writeShopCosts(&text, run.Costs)
	fmt.Fprintf(&text, howToRun, run.Command)
	_, err := io.WriteString(w, text.String())
	return err
}

// pageContestants omits the steps that differ little from others: docs/MATRIX.md has their figures.
func pageContestants(all []contestants.Contestant) []contestants.Contestant {
	return slices.DeleteFunc(slices.Clone(all), func(c contestants.Contestant) bool { return c.OffPage && c.IsStep() })
}

// writeShopCosts writes the section on the cost of a sale over HTTP, relative to the first lock.
func writeShopCosts(w io.Writer, costs []result.SaleCost) {
	if len(costs) == 0 {
		return
	}
	first := costs[0]
	fmt.Fprintf(w, `
## The whole shop

200 buyers over HTTP, one server, loopback, %d sales with each lock, one lock after the other. Times are those of processors, beside a sale
with %s (%.0f µs of the server, %.0f µs of Redis). Calls are Redis' commands, those inside scripts too; waiters that poll make more.

| lock | server | Redis | calls per sale |
|---|---|---|---|
`, first.Sales, first.Lock, first.ServerMicros, first.RedisMicros)
	for _, c := range costs {
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %.1f |\n", c.Lock, c.ServerMicros/first.ServerMicros, c.RedisMicros/first.RedisMicros, c.Commands)
	}
}

func (t table) markdown(w io.Writer) {
	for i, row := range append([][]string{t.head}, t.rows...) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
}
