package main

import (
	"os"
	"strings"
	"testing"

	"lockstep/internal/suite"
)

// undoneCure is a breakage that undoes the cure of a step, with the lab that stands for it: its lock then does not hold.
type undoneCure struct {
	name, file, old, new string
	lab                  string
}

// quickCure is in the quick suite, too.
const quickCure = "compare dropped in Lua"

var undoneCures = []undoneCure{
	{"NX dropped", "internal/lockv1/lock.go", `Mode: "NX"`, `Mode: ""`, "lost-update --lock v1"},
	{"expiry dropped", "internal/lockv2/lock.go", `, TTL: l.opts.TTL`, ``, "holder-dies --lock v2"},
	{"compare dropped in Go", "internal/lockv3/unlock.go", `case holder != owner`, `case holder == ""`, "foreign-delete --lock v3"},
	{quickCure, "util/lua/compareAndDelete.lua", `if holder == ARGV[1] then`, `if holder then`, "check-then-delete --lock v4"},
	{
		"no nested call", "util/lua/lock.lua", `or redis.pcall('HEXISTS', KEYS[1], ARGV[1]) == 1 then`, `then`,
		"self-deadlock --lock v5",
	},
	{
		"renewal without effect", "util/lua/updateExpireTime.lua", `return redis.call('PEXPIRE', KEYS[1], ARGV[2])`, `return 1`,
		"overdue-work --lock v6",
	},
	{
		"the holder never notices", "internal/lock/renew.go", `deadline.Sub(r.opts.Clock.Now()), r.Lose)`,
		`deadline.Sub(r.opts.Clock.Now()), func() {})`, "renewal-outage --lock v6",
	},
	{
		"nothing is given back in doubt", "internal/lock/errors.go", `if errors.Is(err, ErrOutcomeUnknown) {`,
		`if errors.Is(err, ErrNotOwner) {`, "lost-reply --lock v4",
	},
	{
		"the store takes any token", "util/lua/write.lua", `if tonumber(ARGV[2]) < tonumber(redis.call('GET', KEYS[5]) or 0) then`,
		`if false then`, "paused-writer --lock v7",
	},
	{
		"the release ends with the request", "internal/lock/lock.go", `WithTimeout(context.WithoutCancel(ctx), clock`,
		`WithTimeout(ctx, clock`, "cancelled-request --lock v4",
	},
}

// Where the cure of a step is undone, the lab that stands for it sees that: its exit code is 1.
func TestTheLabsFindEveryCureThatIsUndone(t *testing.T) {
	whole := build(t, "")
	for _, m := range undoneCures {
		t.Run(m.name, func(t *testing.T) {
			if m.name != quickCure {
				suite.LongOnly(t, "another of its kind is found in the quick suite")
			}
			if code, said := runLab(t, whole, m.lab); code != 0 {
				t.Fatalf("lab %s: exit code %d without any breakage:\n%s", m.lab, code, said)
			}
			source, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(source), m.old) != 1 {
				t.Fatalf("%s does not have %q once: the breakage has to follow the code", m.file, m.old)
			}
			broken := build(t, overlays(t, map[string]string{m.file: strings.Replace(string(source), m.old, m.new, 1)}))
			if code, said := runLab(t, broken, m.lab); code != 1 {
				t.Errorf("lab %s: exit code %d; want 1:\n%s", m.lab, code, said)
			}
		})
	}
}

// runLab runs a lab, and gives its exit code and what it said.
func runLab(t *testing.T, program, arguments string) (code int, said string) {
	t.Helper()
	return runProgram(t, program, "lab "+arguments)
}
