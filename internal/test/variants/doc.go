// Package variants has locks that an explorer has to judge: broken ones, each with the anomaly that fits and the steps of its shortest
// counterexample, and right ones, which nobody may accuse. It is for tests alone.
//
// A lock is as short as can be, and is made of the parts in parts.go and lockers.go. Each other file has the locks of one kind, with
// a table in front. Broken and Right list them all; Unruly lists locks that move behind the explorer's back.
//
// A variant that the explorer of today judges wrongly says so: its Gap has today's answer, and why it is wrong. The test fails when the
// answer changes, so that whoever closes a gap removes it.
package variants
