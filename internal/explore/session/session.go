// Package session steps through one schedule interactively: a Session lists what can happen next and what cannot, takes a step, and takes
// the last step back.
//
//	s, err := session.New(strategy, scenario, "A:SET A:GET") // or "", to begin at the start
//	defer s.Close()
//	for _, c := range s.Now().Choices {
//		fmt.Println(c.Token, c.Says)
//	}
//	err = s.Take("B:SET")
//	s.Undo()
//
// Now returns a View: a value with everything to show, which can be encoded as JSON. A session keeps no running code. It consists of the
// text of a schedule, and runs the code along it, in less than a millisecond, to see the present state and the effect of each choice.
//
// The package also answers questions about schedules. ShortestPath finds the fewest steps from a session's state to an anomaly; a
// DistanceMap knows them for all states of a small scenario. Explain finds the point of no return of a schedule, and the choices that would
// have avoided the anomaly. Compare runs a schedule under two locks, and CompareToEnd continues the second one to the end of its sales.
package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/strategy"
)

// Session is one strategy in one scenario, at some point of a schedule. It is not safe for concurrent use.
type Session struct {
	strategy        strategy.Strategy   // strategy under test
	scenario        explore.Scenario    // scenario of the session
	harness         *explore.Harness    // runs the strategy along schedules
	path            []engine.Transition // steps so far
	now             View                // view of the present state
	nextTransitions []engine.Transition // transition of each of now.Choices
}

// New starts a session after a schedule, which may be empty. Its errors are those of explore.Replay.
func New(s strategy.Strategy, scenario explore.Scenario, schedule string) (*Session, error) {
	return NewWithContext(context.Background(), s, scenario, schedule)
}

// NewWithContext is like New, with a context. Once ctx has ended, the session takes no further step, and fails with the error of ctx.
func NewWithContext(ctx context.Context, s strategy.Strategy, scenario explore.Scenario, schedule string) (*Session, error) {
	h, err := newHarness(ctx, s, scenario)
	if err != nil {
		return nil, err
	}
	session := &Session{strategy: s, scenario: scenario, harness: h}
	if err := session.replay(schedule); err != nil {
		session.Close()
		return nil, err
	}
	return session, nil
}

// newHarness returns a harness that stops when ctx ends. It offers all symmetric choices, because a reader may choose any actor.
func newHarness(ctx context.Context, s strategy.Strategy, scenario explore.Scenario) (*explore.Harness, error) {
	if err := scenario.CheckFor(s); err != nil {
		return nil, err
	}
	options := explore.Options{DisabledReductions: engine.DisabledReductions{EverySymmetry: true}, Stop: explore.StopWhenDone(ctx)}
	return explore.NewHarness(s, scenario, options, engine.NewSeeds())
}

// Close releases the session's harness. Now and Path can still be read.
func (s *Session) Close() { s.harness.Close() }

// Now returns the view of the present state.
func (s *Session) Now() View { return s.now }

// Strategy returns the strategy of the session.
func (s *Session) Strategy() strategy.Strategy { return s.strategy }

// Scenario returns the scenario of the session.
func (s *Session) Scenario() explore.Scenario { return s.scenario }

// Path returns a copy of the schedule so far, as transitions.
func (s *Session) Path() []engine.Transition { return slices.Clone(s.path) }

// Take takes the step with a token. If there is no such choice, it changes nothing and returns an error with the reason.
func (s *Session) Take(token string) error {
	i := slices.IndexFunc(s.now.Choices, func(c Choice) bool { return c.Token == token })
	if i < 0 {
		return s.refusalOf(token)
	}
	err := s.replay(s.now.Schedule + " " + s.now.Choices[i].Token)
	if errors.Is(err, explore.ErrStale) {
		return explore.ErrUnrepeatable // The same step was possible before.
	}
	return err
}

// Undo takes the last step back. It reports whether there was a step.
func (s *Session) Undo() bool {
	tokens := strings.Fields(s.now.Schedule)
	return len(tokens) > 0 && s.replay(strings.Join(tokens[:len(tokens)-1], " ")) == nil
}

// refusalOf returns an error with the reason why a token is not among the choices.
func (s *Session) refusalOf(token string) error {
	want, err := engine.ParseToken(token)
	if err != nil {
		return err
	}
	schedule := s.now.Schedule + " " + token
	if lacking := explore.CheckBudget(s.scenario, schedule, schedule); lacking != nil {
		return lacking
	}
	for _, d := range s.now.Disabled {
		if d.What == token || want.Who != "" && d.What == want.Who || d.What == want.Kind.Fault().String() {
			return explore.NewStaleError(s.scenario, d.Why)
		}
	}
	return explore.NewStaleError(s.scenario, choicesText(s.now.Tokens(), s.scenario))
}
