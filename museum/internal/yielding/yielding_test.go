package yielding_test

import (
	"testing"

	"lockstep/museum/internal/yielding"
)

// After each go statement it yields, and nothing else changes: no line gets another number.
func TestYieldFollowsGoStatements(t *testing.T) {
	got, err := yielding.Yield([]byte(`package p

func f() {
	go f()
	go func() {
		go f()
	}()
}
`))
	const want = `package p; import yielding "runtime"

func f() {
	go f(); yielding.Gosched(); yielding.Gosched()
	go func() {
		go f(); yielding.Gosched(); yielding.Gosched()
	}(); yielding.Gosched(); yielding.Gosched()
}
`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if same, err := yielding.Yield([]byte("package p\n")); err != nil || string(same) != "package p\n" {
		t.Errorf("%s, %v; want it unchanged", same, err)
	}
}
