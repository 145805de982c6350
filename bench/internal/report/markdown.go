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

The same sale (lock, read the stock, write one less and the order, unlock) runs under each lock of the evolution and under libraries that
people use, and without a lock in the two ways that are correct: all on a real Redis, in one run. Under a lock sales are serial, so no lock
can beat the **limit**: one buyer that reads and writes with no lock at all, measured in each repetition of each condition.

`

const how = `
## How to read it

- A cell is the median of the repetitions, and with more than one, then the least and the most. With one, a difference of a few
  hundredths says nothing. A share is taken of the limit of the same repetition. The contestants of a condition run in a random order.
- Each buyer buys again at once. This favours locks without a queue: the buyer that has just bought asks first and gets the lock again.
- A window of about three rounds (two for the most buyers) is measured after a warm-up of one. A buyer that never got the lock counts
  with its wait so far. The longest wait over the mean says how fair a lock is: 1 is a perfect queue. Where many buyers never got in, all
  waits are equally long: look at their number first.
- Requests are what clients of all processes wrote within the window: polls, renewals and subscriptions too. Two are the sale: GET, and
  a script that writes the stock and the order.
- After each cell the stock must have fallen by exactly the number of sales; otherwise the cell says **broken**. A contestant **hung**
  if it sold nothing in the last half of the window, or had to be ended.
- The terminal also shows one process, and no delay: there the processes compete with Redis for the cores of one machine.
- A sale that waits for no other takes four round trips, and the limit two: a share of 0.5. A lock gets beyond it by handing over to the
  next sale, or by staying with its process, as v11 does.
- redlock needs few requests as it queues inside each process; on its five servers, taking and releasing the lock is ten.
- The sales of atomic and of segmented, with its eight locks, are not serial, so their share is far above 1. optimistic sends five requests
  in three round trips, and starts over after a random pause if the stock has changed. The picture leaves these out.
- Of v1, v2, v3, v5 and delex, [the numbers are beside the matrix](MATRIX.md#what-each-step-gains).
`

const howToRun = `
## How to run it

` + "```sh\ncd bench\ngo run . -help\ngo run . %s\n```\n\n" +
	"The terminal shows all tables and the goals that the project has set itself; `-json` writes everything measured.\n"

// Markdown writes the page: what came out, how to read it, and the tables that one chooses a lock by.
func Markdown(w io.Writer, run result.Run, all []contestants.Contestant) error {
	all = onThePage(all)
	var text strings.Builder
	text.WriteString(head)
	if found := findings(run); found != "" {
		fmt.Fprintf(&text, "%s\n\n", found)
	}
	text.WriteString(picture)
	fmt.Fprintf(&text, "Measured on %s, in %v: %s.\n\n", run.Began.Format(time.DateOnly),
		(time.Duration(run.Seconds) * time.Second).String(), machineLine(run.Machine))
	s := run.Settings
	fmt.Fprintf(&text, "Repetitions: %d; retry pause %g ms, expiry %g s, longest wait %g s.",
		s.Repeat, s.RetryMillis, s.TTLMillis/1000, s.WaitMillis/1000)
	for _, p := range run.Pings {
		fmt.Fprintf(&text, " With %g ms added a PING takes %.2f ms.", p.AddedMillis, p.MedianMillis)
	}
	text.WriteString("\n")
	text.WriteString(how)
	measured := run.Contestants(all)
	for _, c := range all {
		if c.Kind == contestants.Library && slices.Contains(measured, c.Name) {
			fmt.Fprintf(&text, "- `%s`: %s.\n", c.Name, c.Title)
		}
	}
	list, buyers := settings(run)
	for _, s := range list {
		shown := onPage(run, s)
		if len(shown) == 0 {
			continue
		}
		title := s.String()
		fmt.Fprintf(&text, "\n## %s%s\n", strings.ToUpper(title[:1]), title[1:])
		for _, t := range tablesOf(run, all, s, buyers[s], shown) {
			fmt.Fprintf(&text, "\n### %s%s\n\n", strings.ToUpper(t.title[:1]), t.title[1:])
			t.markdown(&text)
		}
	}
	whole(&text, run.Costs)
	fmt.Fprintf(&text, howToRun, run.Command)
	_, err := io.WriteString(w, text.String())
	return err
}

// onThePage leaves out the steps that differ little from their neighbours: docs/MATRIX.md has their numbers.
func onThePage(all []contestants.Contestant) []contestants.Contestant {
	return slices.DeleteFunc(slices.Clone(all), func(c contestants.Contestant) bool { return c.Aside && c.IsStep() })
}

// whole says what a sale of the whole shop costs, beside one with the first of the locks.
func whole(w io.Writer, costs []result.Cost) {
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
`, first.Sales, first.Lock, first.Server, first.Redis)
	for _, c := range costs {
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %.1f |\n", c.Lock, c.Server/first.Server, c.Redis/first.Redis, c.Calls)
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
