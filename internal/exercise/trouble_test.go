package exercise_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	s18 "lockstep/exercises/18-untold/solution"
	"lockstep/internal/exercise"
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// troubledLock is the solution of exercise 18 with something else before each attempt.
type troubledLock struct {
	lock.Locker

	parts  strategy.Parts
	before func(context.Context, strategy.Parts)
}

// Lock implements lock.Locker.
func (l troubledLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return lock.Poll(ctx, l.parts.Options, func() (*lock.Lease, error) {
		l.before(ctx, l.parts)
		return l.TryLock(ctx, owner)
	})
}

// english matches a sentence of two English words or more. Errors of Go and of Redis, and code, are not translated.
var english = regexp.MustCompile(`[a-z]{3,} [a-z]{2,}`)

// A check without a verdict gives the reason once, in the learner's language, with the schedule up to that point.
func TestTroubleIsToldInLearnersLanguage(t *testing.T) {
	for name, test := range map[string]struct {
		before   func(context.Context, strategy.Parts)
		reason   string
		english  string
		chinese  string
		schedule string
	}{
		"a panic": {
			before: func(ctx context.Context, p strategy.Parts) {
				p.Client.Get(ctx, p.Key)
				panic("luck")
			},
			reason: exercise.Panicked, schedule: "A:GET",
			english: "The lock's code panicked:\n\nA panicked: luck\n\t", chinese: "锁的代码 panic 了：\n\nA：luck\n\t",
		},
		"a panic at once": {
			before: func(context.Context, strategy.Parts) { panic("luck") },
			reason: exercise.Panicked, english: "This happens before the first step", chinese: "这发生在时序的第一步之前。",
		},
		"a command": {
			before: func(ctx context.Context, p strategy.Parts) { p.Client.BLPop(ctx, 0, p.Key) },
			reason: exercise.BadCommand, schedule: "A:BLPOP",
			english: "an argument of it:\n\nBLPOP: it waits in Redis", chinese: "不支持它的参数：\n\nBLPOP：它会在 Redis 里阻塞",
		},
		"a key": {
			before: func(ctx context.Context, p strategy.Parts) { p.Client.Set(ctx, "mine", 1, 0) },
			reason: exercise.BadKey, schedule: "A:SET",
			english: "mine is none of them: call it {distributedLock}:mine", chinese: "键 mine 不是，请改名为 {distributedLock}:mine",
		},
		"a deadline": {
			before: func(ctx context.Context, p strategy.Parts) {
				ctx, stop := context.WithTimeout(ctx, time.Hour)
				defer stop()
				p.Client.Get(ctx, p.Key)
			},
			reason: exercise.Blind, schedule: "A:GET",
			english: "Clock.Go:\n\na context has a deadline in real time", chinese: "有一个 context 的截止时间用的是真实时间",
		},
	} {
		for in, want := range map[language.Language]string{language.English: test.english, language.Chinese: test.chinese} {
			t.Run(name+", "+string(in), func(t *testing.T) {
				o := findExercise(t, "01").Explore(t.Context(), strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
					return troubledLock{s18.New(p), p, test.before}
				}}, in)
				if o.State != verdict.Failed || o.Reason != test.reason || o.Schedule != test.schedule || !strings.Contains(o.Says, want) {
					t.Errorf("got %s, %s, %q, %q; want %s, %q, %q", o.State, o.Reason, o.Schedule, o.Says, test.reason, test.schedule, want)
				}
				if sentence := english.FindString(o.Says); in == language.Chinese && sentence != "" {
					t.Errorf("%q is in %q", sentence, o.Says)
				}
			})
		}
	}
}

// The errors that the wrapper of an exercise returns to the sale are in the learner's language too.
func TestWrappersSpeakLearnersLanguage(t *testing.T) {
	released := strategy.Strategy{New: s18.New} // It does not keep the lock.
	o := findExercise(t, "kept-lock").Explore(t.Context(), released, language.Chinese)
	if want := "没有任何故障，A 却失败了：进程没有把锁留给自己的下一单"; o.Says != want {
		t.Errorf("%q; want %q", o.Says, want)
	}
}

// A check that runs out of time says how far it got, and how to continue.
func TestCheckOutOfTimeSaysHowFarItGot(t *testing.T) {
	manyCommands := func(ctx context.Context, p strategy.Parts) {
		for range 12 {
			p.Client.Get(ctx, p.Key)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	o := findExercise(t, "01").Explore(ctx, strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
		return troubledLock{s18.New(p), p, manyCommands}
	}}, language.English)
	want := regexp.MustCompile(`^The check was stopped before .+:\n\nIt reached its limit of 30s \(no fault\) ` +
		`after \d+ schedules? of up to \d+ steps?, none of which breaks the claim\. Each further command .+: use fewer, .+\.$`)
	if o.Reason != exercise.TimedOut || !want.MatchString(o.Says) {
		t.Errorf("%s, %q; want %s", o.Reason, o.Says, want)
	}
}

// A check of code that never stops says that it tries again and again, and neither that it pauses nor that it does not.
func TestCheckOfEndlessCodeSaysSo(t *testing.T) {
	e := findExercise(t, "01")
	e.Explorations = []exercise.Exploration{{Scenario: explore.Scenario{Actors: 1}, Anomalies: exercise.UsualAnomalies()}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const manyCommands = 250 // more than a schedule has whose code comes to an end
	endless := func(ctx context.Context, p strategy.Parts) {
		for i := 0; p.Client.Set(ctx, p.Key, i, 0).Err() == nil; i++ {
			if i == manyCommands {
				stop()
			}
		}
	}
	o := e.Explore(ctx, strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
		return troubledLock{s18.New(p), p, endless}
	}}, language.English)
	if want := "the code tries again and again. If it does so without lock.Poll, use lock.Poll. Otherwise"; !strings.Contains(o.Says, want) {
		t.Errorf("%s, %q; want %q", o.Reason, o.Says, want)
	}
}

// newModule returns a checker of a module in which exercise 01 has these files, by name.
func newModule(t *testing.T, files map[string]string) exercise.Checker {
	t.Helper()
	c := exercise.Checker{Root: t.TempDir()}
	dir := filepath.Join(c.Root, findExercise(t, "01").Dir())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// The error for a file that cannot belong to the exercise's package names the file and what is wrong with it.
func TestSourceFaultNamesFile(t *testing.T) {
	t.Setenv("PATH", "") // so that nothing can be built
	e := findExercise(t, "01")
	for name, test := range map[string]struct {
		files            map[string]string
		english, chinese string
	}{
		"missing": {
			map[string]string{"lock_test.go": "package expiry\n"},
			"exercises/01-expiry/lock.go does not exist", "exercises/01-expiry/lock.go 不存在",
		},
		"empty": {map[string]string{"lock.go": " \n"}, "exercises/01-expiry/lock.go is empty", "exercises/01-expiry/lock.go 是空的"},
		"main": {
			map[string]string{"lock.go": "package main\n"},
			"exercises/01-expiry/lock.go begins with package main. It has to be package expiry", "应为 package expiry",
		},
		"two packages": {
			map[string]string{"a.go": "package nested\n", "lock.go": "package expiry\n"},
			"exercises/01-expiry/a.go begins with package nested", "exercises/01-expiry/a.go 以 package nested 开头",
		},
	} {
		for in, want := range map[language.Language]string{language.English: test.english, language.Chinese: test.chinese} {
			t.Run(name+", "+string(in), func(t *testing.T) {
				o, err := newModule(t, test.files).Check(t.Context(), e, e.Dir(), in)
				if err != nil || o.Reason != exercise.NotCompiled || !strings.Contains(o.Says, want) {
					t.Errorf("got %s, %q, %v; want %q", o.Reason, o.Says, err, want)
				}
			})
		}
	}
}

// An error that the learner's code causes in the program of the check is reported as an error of that code.
func TestCheckTellsOfLearnersFile(t *testing.T) {
	e := findExercise(t, "01")
	o, err := checkerOfEdit(t, e, "func Strategy() ", "func Strategie() ").Check(t.Context(), e, e.Dir(), language.English)
	if err != nil || o.Reason != exercise.NotCompiled || !strings.Contains(o.Says, "/lock.go has to declare this function") {
		t.Errorf("without Strategy: %+v, %v", o, err)
	}
	for code, want := range map[string][2]string{
		`panic("out of luck")`: {exercise.Panicked, "panic: out of luck\n\tadded.go:6"},
		"os.Exit(3)":           {exercise.OtherTrouble, "the code ended the program (exit status 3)"},
	} {
		t.Run(code, func(t *testing.T) {
			added := filepath.Join(t.TempDir(), "added.go")
			text := "package expiry\n\nimport \"os\"\n\nfunc init() {\n\t" + code + "\n\tprint(os.Args)\n}\n"
			if err := os.WriteFile(added, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c := newChecker(t)
			c.Overlay = map[string]string{e.Dir() + "/added.go": added}
			o, err := c.Check(t.Context(), e, e.Dir(), language.English)
			if err != nil || o.Reason != want[0] || !strings.Contains(o.Says, want[1]) {
				t.Errorf("got %s, %q, %v; want %q", o.Reason, o.Says, err, want)
			}
		})
	}
}

// A line with the time separates two checks of --watch.
func TestWatchSeparatesChecks(t *testing.T) {
	d, people := newLearner(t, language.Chinese)
	d.Checker = newModule(t, map[string]string{"lock.go": ""}) // cannot be built, so each check is quick
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Watch(ctx, findExercise(t, "01")) }()
	awaitOutput(t, people, "就会再次检查")
	if strings.Contains(people.String(), "────") {
		t.Errorf("a line before the first check:\n%s", people)
	}
	file := filepath.Join(d.Checker.Root, "exercises", "01-expiry", "lock.go")
	if err := os.WriteFile(file, []byte("package main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, people, "package main")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !regexp.MustCompile(`\n\n──── \d\d:\d\d:\d\d ────\n\n练习`).MatchString(people.String()) {
		t.Errorf("no line with the time between two checks:\n%s", people)
	}
}
