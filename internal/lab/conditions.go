package lab

import (
	"slices"
	"strings"

	"lockstep/internal/lock"
	"lockstep/internal/witness"
	"lockstep/util/lua"
)

// What a scenario waits for.

// moment is a sale's coming to a moment of its life.
func moment(sale string, kind witness.Kind) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(events, func(e witness.Event) bool { return e.Sale == sale && e.Kind == kind })
	}
}

func obtains(sale string) func([]witness.Event) bool { return moment(sale, witness.KindObtains) }
func ends(sale string) func([]witness.Event) bool    { return moment(sale, witness.KindEnds) }

// does is a sale's command with this verb and, unless it is empty, this outcome.
func does(sale string, verb witness.Verb, outcome witness.Outcome) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(events, func(e witness.Event) bool {
			return e.Sale == sale && e.Command != nil && e.Command.Verb == verb && (outcome == "" || e.Command.Outcome == outcome)
		})
	}
}

// refused is a sale's finding the lock held, or waiting for it in its process.
func refused(sale string) func([]witness.Event) bool {
	return does(sale, witness.Takes, witness.Refused)
}

// either is the first of several conditions.
func either(conditions ...func([]witness.Event) bool) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(conditions, func(condition func([]witness.Event) bool) bool { return condition(events) })
	}
}

// all is several conditions together.
func all(conditions ...func([]witness.Event) bool) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return !slices.ContainsFunc(conditions, func(condition func([]witness.Event) bool) bool { return !condition(events) })
	}
}

// What a trap catches.

// aTake is the command that takes a lock.
func aTake(args []string) bool {
	switch name := strings.ToLower(args[0]); name {
	case "set", "setnx":
		return args[1] == lock.Key
	case "eval":
		return slices.Contains([]string{lua.Lock, lua.LockFenced, lua.Acquire, lua.SetNXExpire}, args[1])
	default:
		return false
	}
}

// aRelease is the command that gives a lock back.
func aRelease(args []string) bool {
	switch name := strings.ToLower(args[0]); name {
	case "del":
		return args[1] == lock.Key
	case "eval":
		return slices.Contains([]string{lua.CompareAndDelete, lua.Unlock, lua.Release}, args[1])
	default:
		return false
	}
}

// anExpiry is the command that gives a lock an expiry after it was taken.
func anExpiry(args []string) bool {
	name := strings.ToLower(args[0])
	return (name == "expire" || name == "pexpire") && args[1] == lock.Key
}

// aWrite is the command by which a sale writes.
func aWrite(args []string) bool {
	return strings.EqualFold(args[0], "eval") && (args[1] == lua.Write || args[1] == lua.Take)
}

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

// count is how often a sale came to a moment.
func count(a witness.Account, sale string, kind witness.Kind) (n int) {
	for _, e := range a.Events {
		if e.Sale == sale && e.Kind == kind {
			n++
		}
	}
	return n
}
