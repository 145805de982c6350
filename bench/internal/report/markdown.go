package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

const head = `# Benchmarks

<!-- written by bench (go run . -markdown ../docs/benchmarks.md); changes by hand are lost -->

The same sale (lock, GET the stock, SET it to one less, unlock) under each lock of the evolution, and under libraries that people use,
on a real Redis, in one run; and without a lock in the two ways that are right. Under a lock sales are serial, so none can beat the
**limit**: one buyer that does the GET and the SET with no lock at all, measured under each condition, each time.

`

const how = `
## How to read it

- Each cell is the median of the repetitions, then the least and the most. A share is taken of the limit of the same repetition, "times the
  fastest library" of the fastest one of the same repetition; contestants run in a random order, one condition after the other.
- Each buyer sells again as soon as it has sold. After a warm-up of about one round a window of about three is measured (two for 1000
  buyers), at the rate of the limit; a slower contestant gets no longer one, so its waits are cut: none is longer than both together.
- A wait counts when it ends within the window; of a buyer that never got in, the wait it had so far. The longest is taken over
  those that were still on, too. Longest over mean says how fair it is, 1 being a perfect queue; but where many never got in, all
  their waits are equally long, so look at how many these are first.
- Nobody waits before a buyer asks again. That favours locks without a queue: who has just sold is the first to ask, gets in
  again, and saves the time of handing over, while the others starve.
- Requests are what clients wrote on their connections within the window, by all processes: polling, renewals and subscriptions too. A
  script is one, whatever it calls inside. What Redis sends by itself (messages, invalidations) is none.
- After each cell the stock must have fallen by exactly the number of sales; **broken** if not. **hung**: it sold nothing in the
  last half of the window (a second at least), or had to be ended.
- The round trip is added by one dialer, the same for all: bytes reach the server that much later, any number of them at a time.
- The processes share the machine with each other and with Redis. Without a round trip added they mostly compete for its cores, and
  how soon an idle core wakes up says as much as the lock does: read those numbers as an order, not as a speed.
- All go-redis clients are the same: one for the lock (v9: one for each node) and one for the sale in each process, each with go-redis's
  default pool of ten connections a core (-pool gives them more). With 1000 buyers that poll through it, even the unlock queues for a
  connection.
- Locks that poll pause equally long; v9 between half as long and as long, by chance, and only where processes meet.
  rueidislock has a client of its own kind, does not poll, and is set to one key as the others have.
- A sale that waits for nobody is four round trips, and the limit two: no lock can be much more than twice as fast as one that hands
  over in no time.
- v9's lock is on five servers beside the stock's. All are asked at once: five SETs and, to give it back, five scripts, which are ten
  requests and two round trips. They all run on this one machine, so without a round trip added v9 pays for their processor time, too.
  A process that has passed the lock along 64 times gives it back and lets others try first, for one retry pause: it cannot know
  whether there are others, so that is what a single process loses, too.
- atomic sends one EVAL of a script that looks and takes. optimistic sends WATCH, then GET, then MULTI, SET and EXEC together: five
  requests and three round trips. If the stock has changed it does all that again, after a pause of chance up to the retry pause, then
  up to twice as much each time, but not more than 50 times: its requests a sale over five are its tries. As many try at once as there
  are connections; the shop lets eight of a process. Neither writes an order
  down here, nor has a lock to wait for: a wait lasts until the piece is sold. atomic's sales are not serial, but as many at once as
  a process has connections, so its share of the limit is far above 1. The plot leaves both out.
- v8's sale reads and writes by scripts that compare its fencing token and write an order down, where the others do a GET and a SET.
- With two buyers in several processes each has its own: there is nobody to pass the lock to inside, every sale is a hand-over through
  Redis, and the limit is out of reach.
%s
## How to run it

` + "```sh\ncd bench\ngo run . -help\n"

// Markdown writes the whole document.
func Markdown(w io.Writer, run result.Run, all []contestants.Contestant) error {
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
	text.WriteString("\n\n![Share of the limit, longest wait over mean, and share of the buyers that never got in](benchmarks.svg)\n")
	text.WriteString("\n| contestant | |\n|---|---|\n")
	measured := run.Contestants(all)
	for _, c := range all {
		for _, name := range measured {
			if c.Name == name {
				fmt.Fprintf(&text, "| `%s` | %s |\n", c.Name, c.Title)
			}
		}
	}
	if t := goals(run); len(t.rows) > 0 {
		fmt.Fprintf(&text, "\n## %s\n\nWhat was meant to be reached, by the median.\n\n", t.title)
		t.markdown(&text)
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
	fmt.Fprintf(&text, how+"go run . %s\n```\n", brief(run, all), run.Command)
	_, err := io.WriteString(w, text.String())
	return err
}

// brief says who was measured under fewer conditions, and why; nothing if nobody was.
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
	return fmt.Sprintf(`- To save time those that differ little from their neighbours (%s)
  are measured in one process alone, with at most %d buyers, and not on bare loopback. Elsewhere they show –, or are left out.
  Named by -contestants, they are measured everywhere.
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
