package soak

import "time"

// enoughSales is how many sales there must be in the quiet before each fault; fewer prove nothing.
const enoughSales = 30

func (t *trial) wasPutToTheTest(check *Check) {
	for _, fault := range t.faults {
		check.Checked++
		switch {
		case fault.Before < enoughSales:
			check.unknown("%s: only %d sales in the %v before it", fault.label(t.Record), fault.Before, fault.Calm.Round(time.Millisecond))
		case fault.Error != "":
			check.unknown("%s: %s", fault.label(t.Record), fault.Error)
		case fault.Hit == 0:
			check.unknown("%s: it hit no sale", fault.label(t.Record))
		}
	}
	if len(t.Faults) == 0 {
		check.unknown("there were no faults")
	}
}

// checkPredictedLoss checks that a weak lock still has its flaw, and what a whole run cannot have lost.
func (t *trial) checkPredictedLoss(check *Check) {
	predicted := 0
	for _, fault := range t.faults {
		if !fault.canLose(t.Lock, t.Expiry) || fault.Error != "" {
			continue
		}
		predicted++
		check.Checked++
		if fault.Lost <= 0 {
			check.breaks("%s: nothing was lost", fault.label(t.Record))
		}
	}
	switch lost := t.allLost(); {
	case fenced(t.Lock):
		check.Checked++
		if lost > 0 {
			check.breaks("%d were", lost)
		}
	case predicted == 0:
		check.note("no fault of this plan must cost one")
	default:
		check.note("%d faults had to; %d updates were lost in all", predicted, lost)
	}
}
