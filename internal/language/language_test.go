package language_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"lockstep/internal/language"
)

func TestParseAndSetAcceptNames(t *testing.T) {
	for _, l := range language.All() {
		parsed, err := language.Parse(string(l))
		if parsed != l || err != nil || !slices.Contains(language.Names(), string(l)) {
			t.Errorf("Parse(%s) = %s, %v", l, parsed, err)
		}
	}
	set := language.Chinese
	for _, name := range []string{"", "EN", "fr", "zh_CN"} {
		if _, err := language.Parse(name); !errors.Is(err, language.ErrUnknown) {
			t.Errorf("Parse(%q): %v; want ErrUnknown", name, err)
		}
		if err := set.Set(name); err == nil || set != language.Chinese {
			t.Errorf("Set(%q) leaves %s, %v; want an error, and zh", name, set, err)
		}
	}
	if err := set.Set("en"); err != nil || set.String() != "en" {
		t.Errorf("Set(en) leaves %s, %v; want en", set, err)
	}
}

func TestOfUserFollowsLocaleVariables(t *testing.T) {
	for _, c := range []struct {
		all, messages, lang string
		want                language.Language
	}{
		{"", "", "", language.English}, {"", "", "zh_CN.UTF-8", language.Chinese}, {"", "", "de_DE.UTF-8", language.English},
		{"C", "", "zh_CN.UTF-8", language.English}, {"zh_TW", "C", "C", language.Chinese}, {"", "zh_CN", "en_US", language.Chinese},
	} {
		environment := map[string]string{"LC_ALL": c.all, "LC_MESSAGES": c.messages, "LANG": c.lang}
		if got := language.OfUser(func(variable string) string { return environment[variable] }); got != c.want {
			t.Errorf("%v: %s; want %s", environment, got, c.want)
		}
	}
}

func TestTextInReturnsTranslation(t *testing.T) {
	text := language.Both("lock", "锁")
	for in, want := range map[language.Language]string{language.English: "lock", language.Chinese: "锁", "": "lock"} {
		if got := text.In(in); got != want {
			t.Errorf("In(%q) = %s; want %s", in, got, want)
		}
	}
}

// A translated error keeps its identity and what others add to its text.
func TestTextOfTranslatesError(t *testing.T) {
	kind := errors.New("broken")
	err := fmt.Errorf("after 1: %w (x.go:1)", language.Translate(fmt.Errorf("%w: by %s", kind, "A"), "被 %s 弄坏", "A"))
	if !errors.Is(err, kind) {
		t.Errorf("%v does not wrap %v", err, kind)
	}
	for in, want := range map[language.Language]string{
		language.English: "after 1: broken: by A (x.go:1)", language.Chinese: "after 1: 被 A 弄坏 (x.go:1)",
	} {
		if got := language.TextOf(err, in); got != want {
			t.Errorf("%s: %q; want %q", in, got, want)
		}
	}
	if got := language.TextOf(kind, language.Chinese); got != "broken" {
		t.Errorf("an error without a translation is %q", got)
	}
}
