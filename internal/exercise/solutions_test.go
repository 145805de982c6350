package exercise_test

import (
	s01 "lockstep/exercises/01-expiry/solution"
	s02 "lockstep/exercises/02-foreign-delete/solution"
	s03 "lockstep/exercises/03-check-then-delete/solution"
	s04 "lockstep/exercises/04-cancelled-unlock/solution"
	s05 "lockstep/exercises/05-nested/solution"
	s06 "lockstep/exercises/06-lost-reply/solution"
	s07 "lockstep/exercises/07-endless-renewal/solution"
	s08 "lockstep/exercises/08-blind-renewal/solution"
	s09 "lockstep/exercises/09-missed-wakeup/solution"
	s10 "lockstep/exercises/10-fence/solution"
	s11 "lockstep/exercises/11-majority/solution"
	s12 "lockstep/exercises/12-token-outside/solution"
	s13 "lockstep/exercises/13-late-commit/solution"
	s14 "lockstep/exercises/14-get-then-set/solution"
	s15 "lockstep/exercises/15-starvation/solution"
	s16 "lockstep/exercises/16-kept-lock/solution"
	s17 "lockstep/exercises/17-without-a-lock/solution"
	s18 "lockstep/exercises/18-untold/solution"
	s19 "lockstep/exercises/19-sent-twice/solution"
	"lockstep/internal/strategy"
)

// solutions returns the solutions of the exercises, in order.
func solutions() []func() strategy.Strategy {
	return []func() strategy.Strategy{
		s01.Strategy,
		s02.Strategy,
		s03.Strategy,
		s04.Strategy,
		s05.Strategy,
		s06.Strategy,
		s07.Strategy,
		s08.Strategy,
		s09.Strategy,
		s10.Strategy,
		s11.Strategy,
		s12.Strategy,
		s13.Strategy,
		s14.Strategy,
		s15.Strategy,
		s16.Strategy,
		s17.Strategy,
		s18.Strategy,
		s19.Strategy,
	}
}
