package witness

import (
	"fmt"
	"strings"
	"time"
)

// Language is one that sentences are written in.
type Language string

// The languages. The witness's own sentences are in English only, so far.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// sentences are what the findings say. A word in braces is a field of the finding.
func sentences(Language) map[FindingKind]string {
	return map[FindingKind]string{
		Removed:        "{by} removed {of}'s lock",
		Overwrote:      "{by} wrote over {of}'s lock",
		Prolonged:      "{by} prolonged {of}'s lock",
		ExpiredAtWork:  "{by}'s lock expired after {for}, while {by} was still at work",
		Together:       "{by} and {of} were inside together for {for}",
		RefusedToken:   "the store refused {by}: its token {token} < {seen}",
		LostUpdate:     "{by} wrote stock {wrote}: it had read {read} before {of} wrote, so {of}'s update is lost",
		WroteLate:      "{by} wrote {for} after its lock had ended",
		Waited:         "{by} waited for {for} behind {of}",
		WaitedInVain:   "{by} waited for {for} behind {of}, in vain",
		WaitsForItself: "{by} waited for {for} for a lock that it held itself",
		LeftBehind:     "{by} is gone, and its lock stays: it never expires, and nobody may remove it",
		Polled:         "{by} asked for the lock {times} times in vain",
		Told:           "{by} was told that it had lost the lock",
		Forgot:         "{by} forgot {of}'s lock",
		Unanswered:     "{by} asked for the lock, had no reply for {for}, and failed",
		SoldUntold:     "{by} was sold, though its buyer was told that it was not",
		NeverBooked:    "{by} was not sold, though its buyer was told that it was: the ledger has no order of it",
		DoubtBooked:    "{by}'s buyer was left in doubt; the ledger has the order",
		DoubtUnbooked:  "{by}'s buyer was left in doubt; the ledger has no order of it",
		RanTwice:       "{by} ran tick {tick}, and so did {of}",
		Missed:         "nobody ran tick {tick}",
		Overtaken:      "{by} was overtaken by {times} sales that asked after it",
		Idle:           "nobody was inside for {for} after {of}, while {by} waited",
		RenewedOn:      "{by}'s lock was renewed after {of} had ended: {times} times",
	}
}

// byHand is who removed a lock if it was no sale.
const byHand = "somebody"

// Says gives the finding's sentence.
func (f Finding) Says(in Language) string {
	by := f.By
	if by == "" {
		by = byHand
	}
	return strings.NewReplacer(
		"{by}", by, "{of}", f.Of, "{for}", inShort(time.Duration(f.For)), "{token}", fmt.Sprint(f.Token), "{seen}", fmt.Sprint(f.Seen),
		"{tick}", fmt.Sprint(f.Tick), "{times}", fmt.Sprint(f.Times), "{read}", fmt.Sprint(f.Read), "{wrote}", fmt.Sprint(f.Wrote),
	).Replace(sentences(in)[f.Kind])
}

// inShort writes a duration so that a person can grasp it.
func inShort(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
