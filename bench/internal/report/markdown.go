package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"lockstep/bench/internal/contest"
	"lockstep/bench/internal/result"
)

const head = `# Benchmarks

<!-- written by bench (go run . -markdown ../docs/benchmarks.md); changes by hand are lost -->

The same sale (lock, GET the stock, SET it to one less, unlock) under each lock of the evolution, and under libraries that people use,
on a real Redis, in one run. The sales are serial, so no lock can beat the **limit**: one worker that does the GET and the SET with
no lock at all, measured under each condition, each time.

`

const how = `
## How to read it

- Each cell is the median of the repetitions, then the least and the most. A share is taken of the limit of the same repetition, "times the
  fastest library" of the fastest one of the same repetition; contestants run in a random order, one condition after the other.
- Each waiter sells again as soon as it has sold. After a warm-up of about one round a stretch of about three is measured (two for 1000
  waiters), at the rate of the limit; a slower contestant gets no longer one, so its waits are cut: none is longer than both together.
- A wait counts when it ends within the stretch; of a worker that never got in, the wait it had so far. The longest is taken over
  those that were still on, too. Longest over mean says how fair it is, 1 being a perfect queue; but where many never got in, all
  their waits are equally long, so look at how many these are first.
- Nobody waits before a worker asks again. That favours locks without a queue: who has just sold is the first to ask, gets in
  again, and saves the time of handing over, while the others starve.
- Requests are what clients wrote on their connections within the stretch, by all processes: polling, renewals and subscriptions too. A
  script is one, whatever it calls inside. What Redis sends by itself (messages, invalidations) is none.
- After each cell the stock must have fallen by exactly the number of sales; **broken** if not. **hung**: it sold nothing in the
  last half of the stretch (a second at least), or had to be ended.
- The round trip is added by one dialer, the same for all: bytes reach the server that much later, any number of them at a time.
- The processes share the machine with each other and with Redis. Without a round trip added they mostly compete for its cores, and
  how soon an idle core wakes up says as much as the lock does: read those numbers as an order, not as a speed.
- All go-redis clients are the same: one for the lock and one for the sale in each process, each with go-redis's default pool of ten
  connections a core (-pool gives them more). With 1000 waiters that poll through it, even the unlock queues for a connection.
- Locks that poll pause equally long. rueidislock has a client of its own kind, does not poll, and is set to one key as the others have.
- A sale that waits for nobody is four round trips, and the limit two: no lock can be much more than twice as fast as one that hands
  over in no time.
- v8's sale reads and writes by scripts that compare its fencing token and write an order down, where the others do a GET and a SET.
- With two waiters in several processes each has its own: there is nobody to pass the lock to inside, every sale is a hand-over through
  Redis, and the limit is out of reach.

## How to run it

` + "```sh\ncd bench\ngo run . -help\n"

// Markdown writes the whole document.
func Markdown(w io.Writer, run result.Run, all []contest.Contestant) error {
	var text strings.Builder
	text.WriteString(head)
	fmt.Fprintf(&text, "Measured on %s, in %v: %s.\n\n", run.Began.Format(time.DateOnly),
		(time.Duration(run.Seconds) * time.Second).String(), machineLine(run.Machine))
	s := run.Settings
	fmt.Fprintf(&text, "Repetitions: %d; retry pause %g ms, expiry %g s, longest wait %g s.",
		s.Repeat, s.RetryMillis, s.TTLMillis/1000, s.WaitMillis/1000)
	for _, p := range run.Pings {
		fmt.Fprintf(&text, " With %g ms added a PING takes %.2f ms.", p.AddedMillis, p.MedianMillis)
	}
	text.WriteString("\n\n![Share of the limit, longest wait over mean, and share of the waiters that never got in](benchmarks.svg)\n")
	text.WriteString("\n| contestant | |\n|---|---|\n")
	measured := run.Contestants(all)
	for _, c := range all {
		for _, name := range measured {
			if c.Name == name {
				fmt.Fprintf(&text, "| `%s` | %s |\n", c.Name, c.What)
			}
		}
	}
	if t := goals(run); len(t.rows) > 0 {
		fmt.Fprintf(&text, "\n## %s\n\nWhat was meant to be reached, by the median.\n\n", t.title)
		t.markdown(&text)
	}
	list, waiters := settings(run)
	for _, s := range list {
		title := s.String()
		fmt.Fprintf(&text, "\n## %s%s\n", strings.ToUpper(title[:1]), title[1:])
		for _, t := range tablesOf(run, all, s, waiters[s]) {
			fmt.Fprintf(&text, "\n### %s%s\n\n", strings.ToUpper(t.title[:1]), t.title[1:])
			t.markdown(&text)
		}
	}
	fmt.Fprintf(&text, "%sgo run . %s\n```\n", how, run.Command)
	_, err := io.WriteString(w, text.String())
	return err
}

func (t table) markdown(w io.Writer) {
	for i, row := range append([][]string{t.head}, t.rows...) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
}
