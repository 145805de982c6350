package service

import (
	"testing"

	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// While sales of two runs are in one process, their locks compete as two processes do: a lock knows the process that has it by its name,
// and would else take the other run's lock for its own.
func TestEachRunHasALockOfItsOwn(t *testing.T) {
	var made []string // the names under which they compete
	shop := &Shop{}
	shop.use(Settings{
		Lock: strategy.Parts{Process: "p"},
		Strategy: map[string]strategy.Strategy{"v7": {New: func(parts strategy.Parts) lock.Locker {
			made = append(made, parts.Process)
			return nil
		}}},
	})
	take := func(id string) (lock.Locker, func()) {
		t.Helper()
		run := history.Run{ID: id, Lock: "v7"}
		shop.saw(run)
		locker, giveBack, err := shop.lockerOf(run)
		if err != nil {
			t.Fatal(err)
		}
		return locker, giveBack
	}
	first, endFirst := take("first")
	again, endAgain := take("first")
	second, endSecond := take("second")
	if first != again || first == second {
		t.Error("want one lock for the sales of a run, and another for those of the next")
	}
	endFirst()
	endAgain()
	_, endThird := take("third") // the first one's name is free again
	endThird()
	endSecond()
	idle, end := take("third")
	end()
	if kept, end := take("third"); kept != idle {
		t.Error("the lock of the run that is on is made anew though nobody used it for a moment")
	} else {
		end()
	}
	want := []string{"p", "p.1", "p"}
	for i := range max(len(want), len(made)) {
		if i >= len(want) || i >= len(made) || made[i] != want[i] {
			t.Fatalf("locks were made for %q; want %q", made, want)
		}
	}
	if _, _, err := shop.lockerOf(history.Run{ID: "fourth", Lock: "v42"}); err == nil {
		t.Error("a lock that this replica does not know was made")
	}
}
