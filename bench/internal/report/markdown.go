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

- A cell is the median of the repetitions, followed by the least and the most. A share is taken of the limit of the same repetition, and
  "times the fastest library" of the fastest library of the same repetition. The contestants of one condition run one after the other, in
  a random order.
- Each buyer buys again as soon as it has bought. After a warm-up of about one round, a window of about three rounds is measured (two for
  1000 buyers), at the rate of the limit. A slower contestant gets no longer window, so its waits are cut: no wait is longer than warm-up
  and window together.
- A wait counts if it ends within the window. A buyer that never got the lock counts with its wait so far; the longest wait includes waits
  still in progress. The longest wait over the mean says how fair a lock is: 1 is a perfect queue. Where many buyers never got in, all
  waits are equally long, so look at the number of these buyers first.
- Buyers do not pause between two sales. That favours locks without a queue: the buyer that has just bought asks first, gets the lock
  again, and saves the time of a hand-over, while the others starve.
- Requests are what clients wrote on their connections within the window, in all processes: polling, renewals and subscriptions too. A
  script is one request, whatever it calls inside. What Redis sends by itself (messages, invalidations) is not counted.
- The lock and the sale have clients of their own, so requests of the lock are counted apart. The rest is the sale. It is the
  shop's own, the same for all: GET, and a script that writes the stock and the order.
- After each cell the stock must have fallen by exactly the number of sales; otherwise the cell says **broken**. A contestant **hung** if it
  sold nothing in the last half of the window (one second at least), or had to be ended.
- One dialer adds the round trip, the same for all: bytes reach the server that much later, any number of them at a time.
- The processes share the machine with each other and with Redis. Without an added round trip they mostly compete for its cores, and the
  time in which an idle core wakes up matters as much as the lock: read those numbers as an order, not as a speed.
- All go-redis clients are alike. Each process has one for the lock (redlock: one for each node) and one for the sale, each with go-redis's
  default pool of ten connections per core (-pool changes it). With 1000 buyers that poll, even the unlock waits for a connection. (The
  shop keeps half of its connections for renewals and releases.)
- Locks that poll pause equally long. redlock pauses between half as long and as long, at random. rueidislock has a client of another
  kind and does not poll; it is set to one key, as the others are.
- A sale that waits for no other is four round trips, and the limit is two: no lock can be much more than twice as fast as one that hands
  over in no time, unless it keeps the lock between sales, as v10 does.
- v8 and redlock cannot know whether other processes wait. A process that has handed the lock along inside 64 times therefore releases it
  and pauses once, so that another process can have it. A single process loses that time too.
- redlock's lock is on five servers beside the stock's. All are asked at once: five SETs, and five scripts to release, which are ten
  requests and two round trips. The servers run on this one machine, so without an added round trip redlock pays for their processor time.
- From v7 on, except for redlock, the store checks the sale's fencing token, when it reads and when it writes. The read is a script then,
  instead of GET: that is what a fence costs.
- With two buyers in several processes, each process has one buyer or none. No sale can be handed along inside a process: every one is a
  hand-over through Redis: read, write, and the request that hands over, one after the other. That is three round trips where the limit
  has two, so no lock reaches more than 0.67 there.
- atomic sends one EVAL of a script that reads and takes. optimistic sends WATCH, then GET, then MULTI, EVAL and EXEC together: five
  requests and three round trips. If the stock has changed, it starts again after a random pause of at most the retry pause; that bound
  doubles with each attempt, up to 50 retry pauses. So requests per sale beyond five are further attempts. As many buyers attempt at once
  as there are connections (the shop allows eight per process). Neither waits for a lock: their waits last until the piece is sold. The
  sales of atomic are not serial, so its share of the limit is far above 1. The picture leaves both out.
%s`

const howToRun = `
## How to run it

` + "```sh\ncd bench\ngo run . -help\ngo run . %s\n```\n"

const aboutGoals = `
## Goals

What the project wants to reach. %d of %d goals are met. The median decides. A contestant that did not complete a repetition has missed its
goals there. No lock can beat the limit: a share above 1.1 says that the machine was disturbed while the limit ran, and meets no goal.

`

// Markdown writes the whole document: what came out, how to read it, the tables, and the goals.
func Markdown(w io.Writer, run result.Run, all []contestants.Contestant) error {
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
	fmt.Fprintf(&text, how, brief(run, all))
	text.WriteString("\n| contestant | |\n|---|---|\n")
	measured := run.Contestants(all)
	for _, c := range all {
		if slices.Contains(measured, c.Name) {
			fmt.Fprintf(&text, "| `%s` | %s |\n", c.Name, c.Title)
		}
	}
	list, buyers := settings(run)
	for _, s := range list {
		title := s.String()
		fmt.Fprintf(&text, "\n## %s%s\n", strings.ToUpper(title[:1]), title[1:])
		for _, t := range tablesOf(run, all, s, buyers[s]) {
			fmt.Fprintf(&text, "\n### %s%s\n\n", strings.ToUpper(t.title[:1]), t.title[1:])
			t.markdown(&text)
		}
	}
	fmt.Fprintf(&text, howToRun, run.Command)
	if t := goals(run); len(t.rows) > 0 {
		met, total := met(run)
		fmt.Fprintf(&text, aboutGoals, met, total)
		t.markdown(&text)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// brief names the contestants that were measured under fewer conditions, and says why; it is empty if there are none.
func brief(run result.Run, all []contestants.Contestant) string {
	var names []string
	for _, c := range all {
		under := 0
		for _, at := range run.Conditions() {
			under += min(1, len(run.Of(c.Name, at)))
		}
		if c.Brief && under > 0 && under < len(run.Conditions()) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(`- To save time, contestants that differ little from their neighbours (%s)
  are measured in one process only, with at most %d buyers, and not on bare loopback. Elsewhere they show –, or are left out. Named by
  -contestants, they are measured everywhere.
`, strings.Join(names, ", "), contestants.BriefBuyers)
}

func (t table) markdown(w io.Writer) {
	for i, row := range append([][]string{t.head}, t.rows...) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
}
