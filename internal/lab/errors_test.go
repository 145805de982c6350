package lab

import (
	"errors"
	"fmt"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/witness"
)

// A lab does not run a lock whose command the installed Redis lacks, and gives no result for it.
func TestLabRefusesALockThatTheServerLacks(t *testing.T) {
	row, err := evolution.Find("delex")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range language.All() {
		if missingNeed(row.CheckServers(strategy.Servers{Redis: "Redis 7.0.15"})).In(in) == "" {
			t.Errorf("in %s nothing says why delex was not run", in)
		}
	}
	if err := row.CheckServers(strategy.Servers{CompareAndDelete: "DELEX"}); err != nil {
		t.Error(err)
	}
}

// Failures are in the reader's language: the step of a scenario that failed and its reason, and the reason why a sale failed, by its code.
func TestFailuresAreTranslated(t *testing.T) {
	s := &Stage{}
	s.inject("r1", 0, witness.KindDies, func() error { return ErrNoSignals })
	stopped := s.err
	for _, test := range []struct {
		name             string
		err              error
		english, chinese string
	}{
		{"step of a scenario", &failure{toWait("r2#1"), errTooLong}, "r2#1 to wait: it did not happen in time", "r2#1 开始等待：没有及时发生"},
		{"tick of a job", fmt.Errorf("lab failover: %w", &failure{tickStep(3), errNotKnown}),
			"tick 3: the result is not known yet", "第 3 个 tick：结果尚不明确"},
		{
			"fault that cannot be injected", stopped,
			"r1 dies: this lab suspends a process, which works only on Unix", "r1 崩溃：这个实验要暂停进程，只有 Unix 可以",
		},
		{
			"Redis is unavailable", fmt.Errorf("GET inventory: %w", lock.ErrUnavailable),
			"GET inventory: " + lock.ErrUnavailable.Error(), "Redis 不可用",
		},
		{"error without a code", errors.New("exit status 3"), "exit status 3", "exit status 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			english, chinese := errorText(test.err, language.English), errorText(test.err, language.Chinese)
			if english != test.english || chinese != test.chinese {
				t.Errorf("got %q, %q; want %q, %q", english, chinese, test.english, test.chinese)
			}
		})
	}
	ended := moments(witness.Event{
		Kind: witness.KindEnds, Sale: "r2#1", Error: "EVALSHA: connection refused", Code: lock.CodeOf(lock.ErrUnavailable),
	})
	for in, want := range map[language.Language]string{
		language.English: "nothing went wrong, but nothing shows that the lock holds; r2#1 failed: EVALSHA: connection refused",
		language.Chinese: "没有出错，但无法证明锁起了作用；r2#1 失败：Redis 不可用",
	} {
		t.Run(string(in), func(t *testing.T) {
			if got := noProofReason(ended, in); got != want {
				t.Errorf("got %q; want %q", got, want)
			}
		})
	}
}
