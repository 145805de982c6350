package soak

// stockFeltEverySale compares the stock with the orders, run by run, in every look. A look can come before a run's last sales, so it also
// compares the orders with each other: each leaves one piece less than another one, down from the first stock without a gap.
func stockFeltEverySale(r Record) Check {
	check := Check{Rule: "a run's stock fell by one for every order of that run"}
	if !fenced(r.Lock) {
		check.Rule += ", but for updates lost by a fault that ends the lock under its holder"
	}
	runs := runsOf(r)
	lost := map[string]int64{}
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
		lost[look.ID] = max(lost[look.ID], look.Lost())
	}
	for i, run := range runs {
		check.Checked++
		if gap := run.initial - run.lowest - int64(len(run.left)); gap != 0 && !r.destroyed(runs, i) {
			check.breaks("run %s: the orders leave out %d of the %d pieces that are gone", run.id, gap, run.initial-run.lowest)
		}
		lost[run.id] = max(lost[run.id], run.twice)
		if lost[run.id] == 0 {
			continue
		}
		if fenced(r.Lock) || !r.opened(runs, i) {
			check.breaks("run %s: %d lost updates, and no fault allows one", run.id, lost[run.id])
			continue
		}
		check.Excused += int(lost[run.id])
		check.note("run %s: %d lost updates, as a fault allows", run.id, lost[run.id])
	}
	if len(runs) > 1 {
		check.note("there were %d runs", len(runs))
	}
	return check
}
