package explore

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"lockstep/internal/history"
	"lockstep/internal/strategy"
)

// What is wrong with a schedule that cannot be replayed.
var (
	ErrMalformed = errors.New("that is no step")                    // of any schedule
	ErrStale     = errors.New("the schedule does not fit the code") // or not this scenario
)

// Replayed is a schedule, replayed: what happened, and what it broke.
type Replayed struct {
	history.Trace
	Broken []Breach // each property once, in the order in which they broke
}

// Breach is a property that a schedule broke.
type Breach struct {
	Property Property
	Says     string // in words
	Step     int    // counted from 1
}

// Replay runs one schedule, as Explore wrote it, step by step. It fails with ErrMalformed or ErrStale, saying at which step and
// why; what it gives then is what came before.
func Replay(strategy strategy.Strategy, scenario Scenario, schedule string) (Replayed, error) {
	if err := scenario.CheckFor(strategy); err != nil {
		return Replayed{}, err
	}
	a, err := newArena(strategy, scenario, Bounds{EverySymmetry: true}, [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()})
	if err != nil {
		return Replayed{}, err
	}
	defer a.close()
	w := a.newWorld(scenario)
	defer w.close()
	w.story = &story{}
	var replayed Replayed
	if strings.TrimSpace(schedule) == "" {
		return replayed, fmt.Errorf("%w: the schedule is empty", ErrMalformed)
	}
	for i, token := range strings.Fields(schedule) {
		err = w.follow(token)
		for _, b := range w.judge.breaches {
			known := slices.ContainsFunc(replayed.Broken, func(other Breach) bool { return other.Property == b.property })
			if b.property.Applies(strategy) && !known {
				replayed.Broken = append(replayed.Broken, Breach{b.property, b.says, i + 1})
			}
		}
		if err = errors.Join(err, w.trouble); err != nil {
			err = fmt.Errorf("step %d, %s: %w", i+1, token, err)
			break
		}
	}
	replayed.Trace = w.trace()
	return replayed, err
}

// follow takes the choice that a token names.
func (w *world) follow(token string) error {
	want, command, err := parse(token)
	if err != nil {
		return err
	}
	var possible []string
	for _, c := range slices.Clone(w.choices()) {
		if w.who(c) != want.who || c.kind != want.kind {
			possible = append(possible, w.preview(c))
			continue
		}
		w.judge.breaches = nil
		took := w.tell(c)
		w.judge.look(w)
		if step := w.story.steps[len(w.story.steps)-1]; !took || step.Token != token {
			w.story.steps = w.story.steps[:len(w.story.steps)-1]
			w.judge.breaches = nil
			return fmt.Errorf("%w: what %s does next is %s, not %s", ErrStale, want.who, strings.TrimPrefix(step.Token, want.who+":"), command)
		}
		return nil
	}
	if len(possible) == 0 {
		return fmt.Errorf("%w: nothing more can happen by then", ErrStale)
	}
	return fmt.Errorf("%w: what can happen by then is %s", ErrStale, strings.Join(possible, ", "))
}

// wanted is a choice as a schedule names it.
type wanted struct {
	kind kind
	who  string
}

// parse reads a token. The command is "" where there is none.
func parse(token string) (wanted, string, error) {
	switch token {
	case "time":
		return wanted{kind: timePasses}, "", nil
	case "slow":
		return wanted{kind: slow}, "", nil
	case "expiry":
		return wanted{kind: expires}, "", nil
	}
	who, what, ok := strings.Cut(token, ":")
	if !ok || who == "" || what == "" {
		return wanted{}, "", fmt.Errorf(
			"%w: it takes time, slow, expiry, or WHO:WHAT, as A:SET, A:SET/lost, A:SET/dies-before, A:SET/dies-after, A:SET/pauses-after, "+
				"A:pauses, A:resumes, A:leaves, A:woken, A:unwoken, A.1:SET/node-crashes, A.1:SET/node-hangs, A.1:SET/node-restarts",
			ErrMalformed)
	}
	switch what {
	case "pauses":
		return wanted{pauses, who}, "", nil
	case "resumes":
		return wanted{resumes, who}, "", nil
	case "leaves":
		return wanted{leaves, who}, "", nil
	case "woken":
		return wanted{woken, who}, "", nil
	case "unwoken":
		return wanted{unwoken, who}, "", nil
	}
	for _, k := range []kind{losesReply, diesAfter, diesBefore, pausesAfter, nodeCrashes, nodeHangs, nodeRestarts} {
		if command, ok := strings.CutSuffix(what, k.suffix()); ok {
			return wanted{k, who}, command, nil
		}
	}
	if command, suffix, odd := strings.Cut(what, "/"); odd {
		return wanted{}, "", fmt.Errorf("%w: after %s, it takes /lost, /dies-before, /dies-after or /pauses-after, not /%s",
			ErrMalformed, command, suffix)
	}
	return wanted{moves, who}, what, nil
}

// preview writes c as far as it is known before it has happened.
func (w *world) preview(c choice) string {
	command := "…"
	if int(c.id) < len(w.routines) && w.routines[c.id].pending != nil {
		command, _ = describe(w.routines[c.id].pending)
	}
	return w.token(c, command)
}
