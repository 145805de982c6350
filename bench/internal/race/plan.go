package race

import (
	"math/rand/v2"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// Plan is the set of cells to measure.
type Plan struct {
	Contestants []contestants.Contestant
	Buyers      []int
	Processes   []int
	AddedMillis []float64
	Repeat      int
	Longest     time.Duration // longest warm-up and window of a trial together
	Shortest    time.Duration // shortest window of a trial
}

// windowRounds is the number of times that each buyer would be served in a window at the rate of the limit.
const windowRounds = 3

// Trials returns the trials of a repetition. They are grouped by condition, so that what is compared is measured close together, and in a
// random order within a group. rate returns the sales a second of the limit for an added round trip in milliseconds.
func (p Plan) Trials(repetition int, rate func(addedMillis float64) float64, random *rand.Rand) []Trial {
	var trials []Trial
	for _, at := range p.conditions() {
		group := p.trialsUnder(at, repetition, rate(at.AddedMillis))
		random.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		trials = append(trials, group...)
	}
	return trials
}

// conditions returns all conditions, except several processes for a single buyer.
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

// trialsUnder returns the trials under one condition.
func (p Plan) trialsUnder(at result.Condition, repetition int, rate float64) []Trial {
	var trials []Trial
	for _, c := range p.Contestants {
		trial := Trial{Contestant: c, Condition: at, Repetition: repetition}
		trial.Warmup, trial.Window = p.durations(c, at.Buyers, rate)
		trials = append(trials, trial)
	}
	return trials
}

// durations returns the warm-up, which is slightly longer than a round but at most a third of Longest, and the window of windowRounds.
func (p Plan) durations(c contestants.Contestant, buyers int, rate float64) (warmup, window time.Duration) {
	if c.Kind == contestants.Limit {
		buyers = 1
	}
	round := time.Duration(float64(buyers) / rate * float64(time.Second))
	warmup = 200*time.Millisecond + round
	warmup = min(warmup, p.Longest/3)
	return warmup, max(p.Shortest, min(windowRounds*round, p.Longest-warmup))
}

// EstimateDuration returns the duration of trials, including the time to start their processes.
func EstimateDuration(trials []Trial) time.Duration {
	const start = 150 * time.Millisecond
	sum := time.Duration(0)
	for _, t := range trials {
		sum += t.Warmup + t.Window + start
	}
	return sum
}
