// Package session walks through one schedule by hand: it says what can happen next and what cannot, lets one of these happen, and takes
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
// Now is a View: a value that holds all there is to show, and that JSON can carry. A session keeps no running code: it is made of the text
// of a schedule, and to see the present state, and what each choice would do, it runs the code along that, in less than a millisecond.
//
// Away says how far an anomaly is from the present state of a session. A Map says so for all states of a small scenario at once: it keeps
// every step that a search has seen, and goes backwards from those that show the anomaly. Explain finds the point of no return of a
// schedule, and what would have saved it. Compare runs a schedule under two locks, and Follow lets the second go on to its end.
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

// Session is one strategy in one scenario, somewhere in a schedule. One goroutine uses it at a time.
type Session struct {
	strategy        strategy.Strategy
	scenario        explore.Scenario
	harness         *explore.Harness
	path            []engine.Transition
	now             View
	nextTransitions []engine.Transition // of each choice
}

// New begins a session after this schedule, which may be empty. It fails as explore.Replay does.
func New(s strategy.Strategy, in explore.Scenario, schedule string) (*Session, error) {
	return NewWithContext(context.Background(), s, in, schedule)
}

// NewWithContext does the same. Once ctx has ended, the session takes no further step, and fails with the error of ctx.
func NewWithContext(ctx context.Context, s strategy.Strategy, in explore.Scenario, schedule string) (*Session, error) {
	h, err := newHarness(ctx, s, in)
	if err != nil {
		return nil, err
	}
	session := &Session{strategy: s, scenario: in, harness: h}
	if err := session.replay(schedule); err != nil {
		session.Close()
		return nil, err
	}
	return session, nil
}

// begin makes a harness that stops with ctx.
func newHarness(ctx context.Context, s strategy.Strategy, in explore.Scenario) (*explore.Harness, error) {
	if err := in.CheckFor(s); err != nil {
		return nil, err
	}
	options := explore.Options{Cuts: engine.Cuts{EverySymmetry: true}, Stop: explore.StopWhenDone(ctx)}
	return explore.NewHarness(s, in, options, engine.NewSeeds())
}

// Close ends a session. What Now, Path and Next say stays.
func (s *Session) Close() { s.harness.Close() }

// Now returns what there is to see.
func (s *Session) Now() View { return s.now }

// Strategy returns the one that is stepped through.
func (s *Session) Strategy() strategy.Strategy { return s.strategy }

// Scenario returns what it is in.
func (s *Session) Scenario() explore.Scenario { return s.scenario }

// Path returns the schedule so far, for what runs it again.
func (s *Session) Path() []engine.Transition { return slices.Clone(s.path) }

// Take lets the choice with this token happen. If there is none, the error says why, and nothing has happened.
func (s *Session) Take(token string) error {
	i := slices.IndexFunc(s.now.Choices, func(c Choice) bool { return c.Token == token })
	if i < 0 {
		return s.refusalOf(token)
	}
	err := s.replay(s.now.Schedule + " " + s.now.Choices[i].Token)
	if errors.Is(err, explore.ErrStale) {
		return explore.ErrUnrepeatable // it was possible
	}
	return err
}

// Undo takes the last step back. It reports false at the start.
func (s *Session) Undo() bool {
	tokens := strings.Fields(s.now.Schedule)
	return len(tokens) > 0 && s.replay(strings.Join(tokens[:len(tokens)-1], " ")) == nil
}

// refuse says why a token is no choice.
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
