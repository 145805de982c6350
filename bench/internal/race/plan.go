package race

import (
	"math/rand/v2"
	"time"

	"lockstep/bench/internal/contest"
	"lockstep/bench/internal/result"
)

// Plan says what to measure.
type Plan struct {
	Contestants []contest.Contestant
	Waiters     []int
	Processes   []int
	AddedMillis []float64
	Repeat      int
	All         bool          // the brief ones everywhere, too
	Longest     time.Duration // a stretch and its warm-up are never longer together
	Shortest    time.Duration // nor is a stretch shorter
}

// rounds is how often each waiter would have its turn in a stretch at the limit's rate.
const rounds = 3

// Heats lists the heats of a repetition: condition by condition, so that what is compared is measured close together, in a random
// order within each. rate gives the sales a second of the limit for a round trip added, in milliseconds.
func (p Plan) Heats(repetition int, rate func(addedMillis float64) float64, random *rand.Rand) []Heat {
	var heats []Heat
	for _, added := range p.AddedMillis {
		for _, processes := range p.Processes {
			for _, waiters := range p.Waiters {
				if processes > 1 && waiters == 1 {
					continue // it is the same in one process
				}
				at := result.Condition{AddedMillis: added, Processes: processes, Waiters: waiters}
				first := len(heats)
				for _, c := range p.Contestants {
					if c.Brief && !p.All && (processes > 1 || waiters > contest.BriefWaiters || added == 0) {
						continue
					}
					heat := Heat{Contestant: c, Condition: at, Repetition: repetition}
					heat.Warmup, heat.Stretch = p.times(c, waiters, rate(added))
					heats = append(heats, heat)
				}
				group := heats[first:]
				random.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
			}
		}
	}
	return heats
}

// times are the warm-up, a round and a little more, but a third of the time there is at most; and the stretch, some rounds.
func (p Plan) times(c contest.Contestant, waiters int, rate float64) (warmup, stretch time.Duration) {
	if c.Kind == contest.Limit {
		waiters = 1
	}
	round := time.Duration(float64(waiters) / rate * float64(time.Second))
	warmup = 200*time.Millisecond + round
	warmup = min(warmup, p.Longest/3)
	return warmup, max(p.Shortest, min(rounds*round, p.Longest-warmup))
}

// Takes is how long heats take, with what it takes to start their processes.
func Takes(heats []Heat) time.Duration {
	const start = 150 * time.Millisecond
	sum := time.Duration(0)
	for _, h := range heats {
		sum += h.Warmup + h.Stretch + start
	}
	return sum
}
