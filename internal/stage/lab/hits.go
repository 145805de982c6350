package lab

import (
	"slices"

	"lockstep/internal/watch/witness"
)

// What must have happened for a run to say anything.

// happened is a fault's having hit a replica.
func happened(kind witness.Kind) func(witness.Account) bool {
	return func(a witness.Account) bool {
		return slices.ContainsFunc(a.Events, func(e witness.Event) bool { return e.Kind == kind })
	}
}

// askedInTime is a sale's having asked for the lock before the first sale had done its work.
func askedInTime(sale string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		asked := false
		for _, e := range a.Events {
			switch {
			case e.Sale == sale && e.Kind == witness.KindAsks:
				asked = true
			case e.Sale == "r1#1" && e.Kind == witness.KindEnds:
				return asked
			}
		}
		return asked
	}
}

// died is a replica's having died when one of its sales had taken the lock.
func died(replica string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		took := false
		for _, e := range a.Events {
			switch {
			case e.Replica != replica:
			case e.Kind == witness.KindObtains, e.Command != nil && e.Command.Verb == witness.Takes && e.Command.Outcome == witness.Done:
				took = true
			case e.Kind == witness.KindDies:
				return took
			}
		}
		return false
	}
}

// answered is a sale's write having got an answer, whichever.
func answered(sale string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		return slices.ContainsFunc(a.Events, func(e witness.Event) bool {
			return e.Sale == sale && e.Command != nil && e.Command.Verb == witness.Writes && e.Command.Outcome != witness.Unknown
		})
	}
}

// soldBy is a sale of a replica's having been sold.
func soldBy(replica string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		return slices.ContainsFunc(a.Events, func(e witness.Event) bool {
			return e.Replica == replica && e.Kind == witness.KindEnds && e.Error == ""
		})
	}
}

// sold is a sale's having been sold.
func sold(sale string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		return slices.ContainsFunc(a.Events, func(e witness.Event) bool {
			return e.Sale == sale && e.Kind == witness.KindEnds && e.Error == ""
		})
	}
}

// soldAfter is the last sale of a replica's having been sold, after something had happened.
func soldAfter(kind witness.Kind, replica string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		after, is := false, false
		for _, e := range a.Events {
			switch {
			case e.Kind == kind:
				after = true
			case after && e.Replica == replica && e.Kind == witness.KindEnds:
				is = e.Error == ""
			}
		}
		return is
	}
}

// freedInside is a command's having been let go on to Redis while a sale was inside.
func freedInside(sale string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		inside := false
		for _, e := range a.Events {
			switch {
			case e.Kind == witness.KindFreed:
				return inside
			case e.Sale != sale:
			case e.Kind == witness.KindObtains:
				inside = true
			case e.Kind == witness.KindLeaves:
				inside = false
			}
		}
		return false
	}
}

// and is several of these together.
func and(these ...func(witness.Account) bool) func(witness.Account) bool {
	return func(a witness.Account) bool {
		return !slices.ContainsFunc(these, func(this func(witness.Account) bool) bool { return !this(a) })
	}
}

// failed is a sale's having ended with an error.
func failed(a witness.Account, sale string) bool {
	return slices.ContainsFunc(a.Events, func(e witness.Event) bool { return e.Sale == sale && e.Kind == witness.KindEnds && e.Error != "" })
}

// told is a sale's having been told that it has lost its lock.
func told(a witness.Account, sale string) bool { return moment(sale, witness.KindLoses)(a.Events) }

func isTold(sale string) func(witness.Account) bool {
	return func(a witness.Account) bool { return told(a, sale) }
}

// count is how often a sale came to a moment.
func count(a witness.Account, sale string, kind witness.Kind) (n int) {
	for _, e := range a.Events {
		if e.Sale == sale && e.Kind == kind {
			n++
		}
	}
	return n
}
