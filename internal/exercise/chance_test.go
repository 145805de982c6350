package exercise_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"lockstep/internal/exercise"
	"lockstep/internal/language"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// passedBy returns, for each exercise in order, which other solutions may meet its claim too, because they contain its cure.
func passedBy() [][]int {
	const (
		listens = 9  // nothing wakes its waiters after a crash or an expiry
		onNodes = 11 // it asks nodes, and elsewhere there are none
		noLock  = 17 // it excludes nobody
		twice   = 19 // the store looks at the order
	)
	all := []int{1, 2, 3, 4, 5, 6, 7, 8, listens, 10, onNodes, 12, 13, 14, 15, noLock, 18}
	without := func(others ...int) []int {
		return slices.DeleteFunc(slices.Clone(all), func(n int) bool { return slices.Contains(others, n) })
	}
	return [][]int{
		without(listens, onNodes, noLock),     // 01: they expire
		without(listens, onNodes, noLock, 18), // 02: they know the owner, and work longer than the expiry
		without(2, listens, onNodes, noLock),  // 03: they compare and delete at once
		without(onNodes, noLock),              // 04
		{5, 6},                                // 05: they count
		{6},                                   // 06: it counts down what was lost
		{7, 8},                                // 07: they renew
		{7, 8},                                // 08
		without(onNodes, noLock),              // 09: they poll, or listen in time
		{10},                                  // 10: it brings the store's check
		{onNodes},                             // 11
		{10, 12},                              // 12
		append(without(onNodes), twice),       // 13: the sale writes in time
		without(listens, onNodes, noLock),     // 14
		{},                                    // 15
		without(listens, onNodes, noLock),     // 16: they keep nothing
		{10, 12, twice},                       // 17: the store refuses what is late
		{},                                    // 18
		all,                                   // 19: they write an order's id down
	}
}

// clockReader is the exercise whose solution reads the clock at each attempt. Under the claims of other exercises, that leads to too many
// schedules.
const clockReader = 16

// explorationLimit is the time limit of each exploration: longer than a solution needs that meets the claim.
const explorationLimit = 2 * time.Second

// No solution meets the claim of another exercise. Solutions that contain its cure are skipped: exploring them to the end would take too
// long.
func TestSolutionMeetsNoOtherClaim(t *testing.T) {
	suite.LongOnly(t, "its own solution passes in internal/test/oracle")
	if len(solutions()) != len(exercise.All()) {
		t.Fatalf("%d solutions are here, and %d exercises have pages", len(solutions()), len(exercise.All()))
	}
	for i, e := range exercise.All() {
		for j, solution := range solutions() {
			if i == j || j+1 == clockReader || slices.Contains(passedBy()[i], j+1) {
				continue
			}
			ctx, stop := context.WithTimeout(t.Context(), explorationLimit)
			if o := e.Explore(ctx, solution(), language.English); o.State == verdict.Done {
				t.Errorf("the solution of %d meets the claim of %s", j+1, e.ID())
			}
			stop()
		}
	}
}
