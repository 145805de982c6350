package workshop

import (
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// All lists the exercises in order.
func All() []Exercise {
	all := []Exercise{
		expiry(), foreignDelete(), checkThenDelete(), cancelledUnlock(), nested(), lostReply(), endlessRenewal(),
		blindRenewal(), missedWakeup(), fence(), majority(), tokenOutside(), lateCommit(), getThenSet(),
	}
	for i := range all {
		all[i].Number = i + 1
	}
	return all
}

// say is language.Both: each text of the table has two forms.
func say(english, chinese string) language.Text { return language.Both(english, chinese) }

// usual returns the anomalies that a lock of the exercises has to be free of while nothing goes wrong.
func usual() []explore.Anomaly {
	return []explore.Anomaly{
		explore.TwoHolders, explore.LostUpdate, explore.ForeignRelease, explore.LeftBehind, explore.Stuck,
		explore.GoroutineLeak, explore.FalseWord, explore.TokenOrder, explore.Progress, explore.Idle,
	}
}

// calm is two sales, and nothing that goes wrong.
func calm() Look { return Look{explore.Scenario{Actors: 2}, usual()} }

// with is two sales and one fault; these anomalies may not show.
func with(faults explore.Faults, anomalies ...explore.Anomaly) Look {
	return Look{explore.Scenario{Actors: 2, Faults: faults}, anomalies}
}

// working is two sales that work so long.
func working(work time.Duration, anomalies ...explore.Anomaly) Look {
	return Look{explore.Scenario{Actors: 2, Work: work}, anomalies}
}
