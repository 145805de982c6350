package session_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
)

// begin starts a session with two actors.
func begin(t *testing.T, lock, faults, schedule string) *session.Session {
	t.Helper()
	s, err := session.New(find(t, lock), with(t, faults, 0), schedule)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// In every state of a walk, each choice does what its view says, Undo takes it back, and the schedule can be replayed.
func TestChoiceHasPreviewedEffect(t *testing.T) {
	for _, test := range []struct{ lock, faults string }{
		{"v0", ""}, {"v2", "expiry=1,crash=1"}, {"v6", "expiry=1,pause=1,slow=1"}, {"v10", "lost-wake=1,lost-reply=1,cancel=1"},
		{"v11", "crash=1,timeout=1"}, {"getset", "clock-jump=1,late=1,resend=1,lost-request=1"},
		{"v6", "failover=1,redis-clock=1"}, {"v7", "rollback=1,evict=1"}, {"optimistic", "lost-reply=1"},
		{"redlock", "node-crash=1,node-hang=1,node-restart=1"},
	} {
		t.Run(test.lock+" "+test.faults, func(t *testing.T) {
			s := begin(t, test.lock, test.faults, "")
			for step := 0; step < 30 && len(s.Now().Choices) > 0; step++ {
				tryAll(t, s)
				choices := s.Now().Choices
				if err := s.Take(choices[step*7%len(choices)].Token); err != nil {
					t.Fatal(err)
				}
			}
			replayed, err := explore.Replay(s.Strategy(), s.Scenario(), s.Now().Schedule)
			if err != nil || !reflect.DeepEqual(replayed.Steps, s.Now().Steps) ||
				len(replayed.Hits) != len(s.Now().Hits) {
				t.Errorf("%s replays as %v, %+v; want %+v, %+v", s.Now().Schedule, err, replayed, s.Now().Trace, s.Now().Hits)
			}
		})
	}
}

// tryAll takes each choice, compares its effect with the view, and takes it back.
func tryAll(t *testing.T, s *session.Session) {
	t.Helper()
	before := s.Now()
	for _, c := range before.Choices {
		if err := s.Take(c.Token); err != nil {
			t.Fatalf("after %q: %v", before.Schedule, err)
		}
		after := s.Now()
		last := after.Steps[len(after.Steps)-1]
		if last.Token != c.Token || last.Command != c.Command || last.Says != "" && last.Says != c.Says {
			t.Errorf("after %q, the choice %+v did %+v", before.Schedule, c, last)
		}
		for _, a := range after.Hits {
			if a.Step == len(after.Steps) && !slices.Contains(c.Shows, a.Anomaly) {
				t.Errorf("after %q, %s shows %s; its choice said %v", before.Schedule, c.Token, a.Anomaly, c.Shows)
			}
		}
		if !s.Undo() || !reflect.DeepEqual(s.Now(), before) {
			t.Fatalf("%s was not taken back: %+v; want %+v", c.Token, s.Now(), before)
		}
	}
}

func TestDisabledStepHasReason(t *testing.T) {
	for _, test := range []struct{ lock, faults, schedule, what, why string }{
		{"v4", "", "A:SET A:GET", "time", "time does not pass by itself while somebody can move"},
		{"v4", "expiry=1", "", "expiry", "no key in Redis has an expiry"},
		{"v4", "expiry=1", "A:SET expiry", "expiry", "the budget expiry=1 is used up"},
		{"v4", "", "A:SET A:GET A:write A:compareAndDelete", "A", "A's sale has ended"},
		{"v4", "crash=1", "A:SET/dies-after", "A", "A is dead"},
		{"v4", "pause=1", "A:SET A:pauses", "A", "A is paused until A resumes"},
		{"v4", "", "A:SET B:SET", "B",
			"B waits, while A holds the lock: another attempt would get the same answer"},
		{"v10", "", "A:acquire B:acquire B:subscribes B:acquire", "B",
			"B waits until 2.5s, or for a message, while A holds the lock"},
		{"v6", "slow=1", "", "slow", "no timer is set"},
		{"v10", "lost-wake=1", "", "lost-wake", "no message is in transit"},
		{"v4", "lost-reply=1,crash=1", "A:SET/lost", "lost-reply", "the budget lost-reply=1 is used up"},
	} {
		t.Run(test.lock+" "+test.what, func(t *testing.T) {
			s := begin(t, test.lock, test.faults, test.schedule)
			i := slices.IndexFunc(s.Now().Disabled, func(d session.Disabled) bool { return d.What == test.what })
			if i < 0 || s.Now().Disabled[i].Why != test.why {
				t.Errorf("after %q the disabled steps are %+v; want %s: %s", test.schedule, s.Now().Disabled, test.what, test.why)
			}
		})
	}
}

// A sale in the local queue of its process waits for the sale before it.
func TestDisabledNamesWaitInLocalQueue(t *testing.T) {
	s, err := session.New(find(t, "v9"), explore.Scenario{Actors: 2, Replicas: 1}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, who := range []string{"A:", "A:", "B:"} {
		i := slices.IndexFunc(s.Now().Tokens(), func(token string) bool { return strings.HasPrefix(token, who) })
		if err := s.Take(s.Now().Tokens()[max(i, 0)]); err != nil {
			t.Fatal(err)
		}
	}
	want := session.Disabled{What: "B", Why: "B waits for another goroutine of its process, while A holds the lock"}
	if !slices.Contains(s.Now().Disabled, want) {
		t.Errorf("after %q: %+v; want %+v", s.Now().Schedule, s.Now().Disabled, want)
	}
}

// Take with a token that is not a choice returns the reason and changes nothing.
func TestTakeRefusesImpossibleStep(t *testing.T) {
	s := begin(t, "v4", "expiry=1", "A:SET expiry")
	for token, want := range map[string]struct {
		err  error
		text string
	}{
		"expiry":   {err: explore.ErrStale, text: "it needs --faults expiry=2"},
		"A:DEL":    {err: explore.ErrStale, text: "what can happen is A:GET, B:SET"},
		"nonsense": {err: explore.ErrMalformed, text: "it takes A:SET"},
	} {
		t.Run(token, func(t *testing.T) {
			before := s.Now()
			err := s.Take(token)
			if !errors.Is(err, want.err) || !strings.Contains(err.Error(), want.text) || !reflect.DeepEqual(before, s.Now()) {
				t.Errorf("Take: %v; want %v with the text %q, and the same view", err, want.err, want.text)
			}
		})
	}
}

// The state contains the keys in Redis, the actual holder and what the actors believe. Its JSON contains no null.
func TestStateEncodesAsJSONWithoutNull(t *testing.T) {
	s := begin(t, "v6", "expiry=1", "A:begins A:lock B:begins B:lock")
	state := s.Now().State
	held := slices.ContainsFunc(state.Servers[0].Keys, func(k session.Key) bool {
		return k.Name == "distributedLock" && slices.Equal(k.Values, []string{"distributedLock:A", "1"}) && k.Expires > 0
	})
	if !held || state.Holder != "A" || !state.Actors[0].Believes || state.Actors[1].Believes || len(state.Timers) == 0 ||
		state.Left["expiry"] != 1 || len(state.Left) != 1 {
		t.Errorf("state %+v; want A to hold the lock and to believe so, and one expiry to be left", state)
	}
	document, err := json.Marshal(s.Now())
	if err != nil || strings.Contains(string(document), "null") || !strings.Contains(string(document), `"choices":[{"token":`) {
		t.Errorf("%v: %s", err, document)
	}
	if document, err = json.Marshal(begin(t, "v0", "", "").Now()); err != nil || strings.Contains(string(document), "null") {
		t.Errorf("%v: %s", err, document)
	}
}

func TestSessionEndsAndUndoesToStart(t *testing.T) {
	s := begin(t, "v0", "", "A:GET A:write B:GET B:write")
	if v := s.Now(); !v.Over || len(v.Choices) > 0 || len(v.Hits) > 0 {
		t.Errorf("view %+v; want it to be over, without choices and anomalies", v)
	}
	if err := s.Take("A:GET"); !errors.Is(err, explore.ErrStale) {
		t.Errorf("Take after the end: %v; want ErrStale", err)
	}
	for range 4 {
		if !s.Undo() {
			t.Fatal("a step was not taken back")
		}
	}
	if s.Undo() {
		t.Error("something was taken back at the start")
	}
}
