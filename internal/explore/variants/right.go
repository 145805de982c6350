package variants

import (
	"context"

	"lockstep/internal/explore"
)

// right are locks that do what they promise, in the scenario beside them.
func right() []Variant {
	return []Variant{
		{Name: "SET NX PX", Lock: polls(setNX)},
		{Name: "SET NX PX, three", Lock: polls(setNX), Scenario: explore.Scenario{Actors: 3}},
		{Name: "SET NX PX, a crash", Lock: polls(setNX), Scenario: once("crash")},
		{Name: "SET NX PX, a cancel and a lost reply", Lock: polls(setNX), Scenario: once("cancel", "lost-reply")},
	}
}

func setNX(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) { return p.release(owner), p.take(ctx, owner) }
}
