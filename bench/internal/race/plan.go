package race

import (
	"math/rand/v2"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// Plan says what to measure.
type Plan struct {
	Contestants []contestants.Contestant
	Buyers      []int
	Processes   []int
	AddedMillis []float64
	Repeat      int
	Longest     time.Duration // a window and its warm-up are never longer together
	Shortest    time.Duration // nor is a window shorter
}

// windowRounds is how often each buyer would have its turn in a window at the limit's rate.
const windowRounds = 3

// Trials lists the trials of a repetition: condition by condition, so that what is compared is measured close together, in a random
// order within each. rate gives the sales a second of the limit for a round trip added, in milliseconds.
func (p Plan) Trials(repetition int, rate func(addedMillis float64) float64, random *rand.Rand) []Trial {
	var trials []Trial
	for _, at := range p.conditions() {
		group := p.trialsUnder(at, repetition, rate(at.AddedMillis))
		random.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		trials = append(trials, group...)
	}
	return trials
}

// conditions lists all, but several processes for one buyer: that is the same in one process.
func (p Plan) conditions() []result.Condition {
	var all []result.Condition
	for _, added := range p.AddedMillis {
		for _, processes := range p.Processes {
			for _, buyers := range p.Buyers {
				if processes == 1 || buyers > 1 {
					all = append(all, result.Condition{AddedMillis: added, Processes: processes, Buyers: buyers})
				}
			}
		}
	}
	return all
}

// trialsUnder lists the trials under one condition.
func (p Plan) trialsUnder(at result.Condition, repetition int, rate float64) []Trial {
	var trials []Trial
	for _, c := range p.Contestants {
		trial := Trial{Contestant: c, Condition: at, Repetition: repetition}
		trial.Warmup, trial.Window = p.durations(c, at.Buyers, rate)
		trials = append(trials, trial)
	}
	return trials
}

// durations are the warm-up, a round and a little more, but a third of the time there is at most; and the window, some rounds.
func (p Plan) durations(c contestants.Contestant, buyers int, rate float64) (warmup, window time.Duration) {
	if c.Kind == contestants.Limit {
		buyers = 1
	}
	round := time.Duration(float64(buyers) / rate * float64(time.Second))
	warmup = 200*time.Millisecond + round
	warmup = min(warmup, p.Longest/3)
	return warmup, max(p.Shortest, min(windowRounds*round, p.Longest-warmup))
}

// EstimateDuration is how long trials take, with what it takes to start their processes.
func EstimateDuration(trials []Trial) time.Duration {
	const start = 150 * time.Millisecond
	sum := time.Duration(0)
	for _, t := range trials {
		sum += t.Warmup + t.Window + start
	}
	return sum
}
