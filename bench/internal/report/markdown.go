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

`

const picture = `![Share of the limit, longest wait over mean, and share of the buyers that never got in](benchmarks.svg)

The same sale (lock, read the stock, write one less and the order, unlock) runs under each lock of the evolution, under popular libraries,
and without a lock in two correct ways, all on a real Redis, in one run. Under a lock sales are serial, so a single lock is compared
with the **limit**: one buyer without a lock, measured in each repetition of each condition.

`

const howToRead = `
## How to read it

- A cell is the median of the repetitions, with the least and the most. A share is of the limit of the same repetition. Contestants run in
  random order.
- Buyers buy again at once, which favours locks without a queue: the buyer that has just bought asks first.
- A warm-up of one round precedes a window of about three (two for the most buyers). A buyer that never got the lock counts with its wait so
  far. For a perfect queue, the longest wait over the mean is 1. Where many buyers never got in, all waits are equally long: see their
  number first.
- Requests are all that the clients wrote within the window, including polls, renewals and subscriptions. Two are the sale's: GET, and a
  script that writes the stock and the order.
- A cell is **broken** if the stock did not fall by exactly the number of sales. A contestant **hung** if it sold nothing in the last half
  of the window, or had to be ended.
- A sale that waits for no other takes four round trips, and the limit two: a share of 0.5. A lock exceeds it by handing over to the next
  sale, or by staying with its process, as v11 does.
- redlock needs few requests as it queues inside each process; on its five servers, taking and releasing the lock is ten.
- Sales of atomic, and of segmented with its eight locks, are not serial: their share is far above 1. optimistic sends five requests in
  three round trips, and starts over after a random pause if the stock has changed. The picture leaves these out.
- [The matrix](MATRIX.md#what-each-step-gains) has the numbers of v1, v2, v3, v5 and delex, too.
`

const howToRun = `
## How to run it

` + "```sh\ncd bench\ngo run . -help\ngo run . %s\n```\n\n" +
	"The terminal also shows one process, and no delay, where the processes compete with Redis for cores, and the goals;\n" +
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
		for _, t := range newTables(run, all, s, buyers[s], shown) {
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
