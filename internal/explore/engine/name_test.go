package engine

import "testing"

func TestPurpose(t *testing.T) {
	for function, want := range map[string]string{
		"lockstep/internal/lock.StartRenewal.func1":           "renewal",
		"lockstep/internal/lock.(*Renewal).Lose-fm":           "lose",
		"lockstep/internal/lockv11.(*Locker).hear.func1":      "hear",
		"lockstep/internal/lock/quorum.(*Nodes).Ask.func1.2":  "ask",
		"lockstep/internal/test/variants.process.renew.func1": "renew",
		"example.com/mine.(*mine).Lock.StartRenewal.func3":    "renewal", // inlined
		"example.com/mine.started":                            "started",
		"example.com/mine.Start":                              "start",
		"main.init.func1":                                     "init",
		"main.glob..func1":                                    "glob",
		"main.func1":                                          unnamed,
		"main.keep[...]":                                      unnamed,
	} {
		if got := purposeOf(function); got != want {
			t.Errorf("what %s runs is called %s; want %s", function, got, want)
		}
	}
	if got := purpose(func() {}); got != "testPurpose" {
		t.Errorf("a function here is called %s", got)
	}
}
