package seat

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
)

func drawn(t *testing.T) *session.Map {
	t.Helper()
	strategy, err := evolution.Find("v0")
	if err != nil {
		t.Fatal(err)
	}
	m, err := session.Draw(t.Context(), strategy, explore.Scenario{Actors: 2}, explore.Bounds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// putAndGet puts a map, and gives what is kept of it then.
func putAndGet(m *maps, name string, drawn *session.Map) *session.Map {
	m.put(name, drawn, nil, language.English)
	kept, _ := m.get(name, language.Chinese)
	return kept
}

// The map that was used longest ago makes room, and one that is too large is not kept.
func TestMapsMakeRoom(t *testing.T) {
	one := drawn(t)
	m := maps{most: 2 * one.Bytes(), now: time.Now}
	if putAndGet(&m, "a", one) != one || putAndGet(&m, "b", drawn(t)) == nil {
		t.Error("two are not kept, for readers of any language")
	}
	_, _ = m.get("a", language.English)
	putAndGet(&m, "c", drawn(t))
	if len(m.kept) != 2 || m.kept[0].drawn != one || m.kept[1].name != "c" {
		t.Errorf("kept is %+v; want a and c: b has made room", m.kept)
	}
	small := maps{most: one.Bytes() - 1, now: time.Now}
	if putAndGet(&small, "a", one) != nil || len(small.kept) > 0 {
		t.Errorf("%+v is kept, in a bound of %d", small.kept, small.most)
	}
}

// What is too large is remembered for a while, in the language of the error, the latest of many.
func TestWhatIsTooLarge(t *testing.T) {
	const most = 10
	now := time.Now()
	m := maps{most: most * errorBytes, now: func() time.Time { return now }}
	failed := errors.New("too large")
	says := func(name string, in language.Language) error { _, err := m.get(name, in); return err }
	m.put("a", nil, failed, language.English)
	if !errors.Is(says("a", language.English), failed) || says("a", language.Chinese) != nil || says("b", language.English) != nil {
		t.Errorf("%+v; want a to be too large in English, and nothing else known", m.kept)
	}
	now = now.Add(tooLargeFor)
	if says("a", language.English) != nil || len(m.kept) != 0 {
		t.Errorf("%+v; want it to be forgotten", m.kept)
	}
	for i := range most + 1 {
		m.put(fmt.Sprint(i), nil, failed, language.English)
	}
	if says("0", language.English) != nil || says("1", language.English) == nil || len(m.kept) != most {
		t.Errorf("%d are kept; want the latest %d", len(m.kept), most)
	}
}
