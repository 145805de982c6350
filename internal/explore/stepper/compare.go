package stepper

import (
	"errors"
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/explore/harness"
	"lockstep/internal/explore/trace"
	"lockstep/internal/lock/strategy"
)

// Comparison is one schedule under two locks.
type Comparison struct {
	Locks   [2]string          `json:"locks"`
	Rows    []Row              `json:"rows"`
	Differs int                `json:"differs"` // the first row that does, counted from 1; 0: none
	Why     []string           `json:"why"`     // it does, a sentence each
	Shown   [2][]explore.Shown `json:"shown"`   // by each lock; the step is the row

	Schedules [2]string `json:"schedules"` // what each lock did
}

// Row is a step under each lock. One is nil if a lock does nothing of that kind: some begin an attempt by looking at the clock, which is a
// step, and some by their command. From the first step that differs on, the second one is nil if that cannot happen.
type Row [2]*trace.Step

// Compare runs a schedule of the first lock, and the same under the second, as far as it can: the same things happen to the same actors,
// whatever their commands are called. Two steps differ if they do not mean the same, or if what is so after them is not the same.
func Compare(locks [2]strategy.Strategy, in explore.Scenario, schedule string) (Comparison, error) {
	c := Comparison{Locks: [2]string{locks[0].Name, locks[1].Name}, Rows: []Row{}, Why: []string{}}
	c.Shown = [2][]explore.Shown{{}, {}}
	var sessions [2]*Session
	for i, lock := range locks {
		session, err := New(lock, in, "")
		if err != nil {
			return c, err
		}
		defer session.Close()
		sessions[i] = session
	}
	for i, token := range strings.Fields(schedule) {
		if err := sessions[0].Take(token); err != nil {
			return c, harness.AtStep(in, i+1, token, err)
		}
		if err := c.follow(sessions[0].last(), sessions[1]); err != nil {
			return c, err
		}
	}
	for i, session := range sessions {
		c.ended(i, session)
	}
	return c, nil
}

// GoOn adds what a lock does by itself, after all that both do.
func (c *Comparison) GoOn(lock int, session *Session, token string) error {
	if err := session.Take(token); err != nil {
		return err
	}
	var row Row
	row[lock] = session.last()
	c.Rows = append(c.Rows, row)
	c.ended(lock, session)
	return nil
}

// ended takes down what a lock did, and has shown.
func (c *Comparison) ended(lock int, session *Session) {
	c.Schedules[lock], c.Shown[lock] = session.Now().Schedule, slices.Clone(session.Now().Shown)
	for i, shown := range c.Shown[lock] {
		c.Shown[lock][i].Step = c.row(lock, shown.Step)
	}
}

// row returns the row of a lock's step.
func (c *Comparison) row(lock, step int) int {
	for i, row := range c.Rows {
		if row[lock] != nil {
			if step--; step == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// follow lets the second lock do what the first one did.
func (c *Comparison) follow(first *trace.Step, second *Session) error {
	if who, _, _ := strings.Cut(first.Token, ":"); second.begins(who) && first.Kind != trace.KindBegins {
		if err := second.Take(beginning(who)); err != nil {
			return err
		}
		c.Rows = append(c.Rows, Row{nil, second.last()})
	} else if first.Kind == trace.KindBegins && !second.begins(who) {
		c.Rows = append(c.Rows, Row{first, nil})
		return nil
	}
	err := second.TakeAs(first.Token)
	var stale *explore.StaleError
	switch {
	case errors.As(err, &stale):
		c.Rows = append(c.Rows, Row{first, nil})
		if c.Differs == 0 {
			c.Why = append(c.Why, second.scenario.Say("Under %s this cannot happen: %s", "在 %s 下这不可能发生：%s", c.Locks[1], stale.Why))
		}
	case err != nil:
		return err
	default:
		c.Rows = append(c.Rows, Row{first, second.last()})
		if c.Differs == 0 {
			c.compare(first, second.last(), second)
		}
	}
	if c.Differs == 0 && len(c.Why) > 0 {
		c.Differs = len(c.Rows)
	}
	return nil
}

// compare says how two steps differ.
func (c *Comparison) compare(a, b *trace.Step, second *Session) {
	say, in := second.scenario.Say, second.scenario.Language
	differs := func(what, first, second string) {
		if first != second {
			c.Why = append(c.Why, say("%s: under %s, %s; under %s, %s", "%s：%s 是“%s”，%s 是“%s”", what, c.Locks[0], first, c.Locks[1], second))
		}
	}
	differs(say("What happens", "发生的事"), a.Says, b.Says)
	differs(say("What is so then", "之后的状态"), a.State(in), b.State(in))
	if !slices.Equal(a.Standing, b.Standing) {
		differs(say("Where the actors stand", "参与者的处境"), second.stances(a), second.stances(b))
	}
	if len(c.Why) > 0 && a.Command != "" {
		differs(say("The command", "命令"), sent(a), sent(b))
	}
}

func sent(s *trace.Step) string { return s.Command + " → " + s.Reply }

// stances says where each actor stands.
func (s *Session) stances(step *trace.Step) string {
	var all []string
	for i, name := range s.now.Trace.Actors {
		all = append(all, name+" "+step.Standing[i].In(s.scenario.Language))
	}
	return strings.Join(all, s.scenario.Say(", ", "，"))
}

// last returns the last step.
func (s *Session) last() *trace.Step { return &s.now.Trace.Steps[len(s.now.Trace.Steps)-1] }

// begins reports whether what this task does next is to begin an attempt, without a command.
func (s *Session) begins(who string) bool { return slices.Contains(s.now.Tokens(), beginning(who)) }

func beginning(who string) string { return who + ":" + trace.KindBegins }
