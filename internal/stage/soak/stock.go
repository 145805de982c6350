package soak

// stockFeltEverySale compares the stock with the orders, run by run, in every look. A look can come before a run's last sales, so it also
// compares the orders with each other: each leaves one piece less than another one, down from the first stock without a gap.
func stockFeltEverySale(r Record) Check {
	check := Check{Rule: "a run's stock fell by one for every order of that run"}
	if !fenced(r.Lock) {
		check.Rule += ", but for updates lost by a fault that ends the lock under its holder"
	}
	runs := runsOf(r)
	for _, look := range r.Looks {
		check.Checked++
		if look.Sold != look.Kept {
			check.breaks("run %s says %d sold at %s, and its ledger has %d", look.ID, look.Sold, r.at(look.At), look.Kept)
		}
		if look.Lost() < 0 {
			check.breaks("run %s at %s: the stock fell by %d more than was sold", look.ID, r.at(look.At), -look.Lost())
		}
		if look.Oversold() > 0 {
			check.breaks("run %s at %s: %d more sold than there was", look.ID, r.at(look.At), look.Oversold())
		}
	}
	lost := check.losses(r)
	for i, run := range runs {
		check.Checked++
		if gap := run.initial - run.lowest - int64(len(run.left)); gap != 0 && !r.destroyed(runs, i) {
			check.breaks("run %s: the orders leave out %d of the %d pieces that are gone", run.id, gap, run.initial-run.lowest)
		}
		switch more := run.twice - lost[run.id]; {
		case more <= 0:
		case r.opened(runs, i): // nobody looked at the run after that
			check.Excused += int(more)
		default:
			check.breaks("run %s: %d orders left what others had left, and no look saw that %d of these updates were lost", run.id, run.twice, more)
		}
	}
	if len(runs) > 1 {
		check.note("there were %d runs", len(runs))
	}
	return check
}

// losses looks when updates were lost, and gives how many were in each run. What no fault allows then is a flaw, whatever others allow at
// other times.
func (c *Check) losses(r Record) map[string]int64 {
	lost, allowed := map[string]int64{}, int64(0)
	for _, l := range r.losses() {
		lost[l.run] += l.updates
		if !r.allowsLoss(l.from, l.to) {
			c.breaks("run %s: %d updates were lost by %s, and no fault allows that then", l.run, l.updates, r.at(l.to))
			continue
		}
		allowed += l.updates
	}
	if c.Excused += int(allowed); allowed > 0 {
		c.note("%d updates were lost when a fault allows it", allowed)
	}
	return lost
}
