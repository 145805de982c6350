package witness

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/language"
	"lockstep/internal/service/reason"
)

var (
	han         = regexp.MustCompile(`\p{Han}`)
	placeholder = regexp.MustCompile(`\{\w+\}|%(?:\[\d+\])?[.\d]*[sdf]`)
	latin       = regexp.MustCompile(`[A-Za-z]`)
	sameInAll   = strings.NewReplacer("Redis", "", "tick", "", "DEL", "", "v7", "", "context", "")
)

// allTexts returns all texts of the witness, by a name for each.
func allTexts() map[string]language.Text {
	all := map[string]language.Text{}
	for _, row := range findingTexts() {
		all["sentence "+string(row.kind)] = row.sentence
		if row.cacheSentence != (language.Text{}) {
			all["sentence about a cache "+string(row.kind)] = row.cacheSentence
		}
		if row.explanation != (language.Text{}) {
			all["why "+string(row.kind)] = row.explanation
		}
	}
	for what, text := range commandTexts() {
		all[fmt.Sprint("doing ", what)] = text
	}
	for verb, text := range sendingTexts() {
		all[fmt.Sprint("sending ", verb)] = text
	}
	for kind, text := range Titles() {
		all["title "+kind] = text
	}
	for outcome, text := range manualRemovalTexts() {
		all["by hand "+string(outcome)] = text
	}
	for _, h := range eventTexts() {
		for which, text := range map[string]language.Text{"": h.sentence, ", its rule": h.ruler} {
			if text != (language.Text{}) {
				all[fmt.Sprintf("happening %s, cache %t%s", h.kind, h.isCache, which)] = text
			}
		}
	}
	for i, because := range reason.All() {
		all["reason "+strconv.Itoa(i)] = because.Text
	}
	return all
}

// Every text is translated: it has the same placeholders in each language, and no word of the other language.
func TestTextsAreTranslated(t *testing.T) {
	for name, text := range allTexts() {
		english, chinese := text.In(language.English), text.In(language.Chinese)
		if english == "" || han.MatchString(english) {
			t.Errorf("%s is in English %q", name, english)
		}
		rest := sameInAll.Replace(placeholder.ReplaceAllString(chinese, ""))
		if chinese == "" || latin.MatchString(rest) || latin.MatchString(placeholder.ReplaceAllString(english, "")) && !han.MatchString(chinese) {
			t.Errorf("%s is in Chinese %q", name, chinese)
		}
		if one, other := placeholders(english), placeholders(chinese); !slices.Equal(one, other) {
			t.Errorf("%s has the places %v in English, and %v in Chinese", name, one, other)
		}
	}
}

// placeholders returns the placeholders of a text: of a format in the order of the values, of a sentence each field once.
func placeholders(text string) []string {
	all := placeholder.FindAllString(text, -1)
	if strings.Contains(text, "{") {
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return all
}

// An overlap shorter than a millisecond is not said to have lasted for none.
func TestShortOverlapIsNotNothing(t *testing.T) {
	f := Finding{Kind: Overlapped, Subject: "r1#1", Other: "r2#1", Duration: 900}
	if got, want := f.Sentence(language.English), "r1#1 and r2#1 were in the critical section together for less than 1 ms"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}

// Each declared kind of finding has a sentence, and no other has.
func TestEveryFindingKindHasSentence(t *testing.T) {
	declared := constants(t, "FindingKind")
	for _, row := range findingTexts() {
		if !slices.Contains(declared, string(row.kind)) {
			t.Errorf("%s is not a finding", row.kind)
		}
	}
	for _, kind := range declared {
		if FindingKind(kind).rank() < 0 {
			t.Errorf("%s has no sentence", kind)
			continue
		}
		for _, in := range language.All() {
			f := Finding{Kind: FindingKind(kind), Subject: "r1#1", Other: "r2#1"}
			if text := f.Sentence(in); text == "" || strings.ContainsAny(text, "{}") {
				t.Errorf("%s says in %s %q", kind, in, text)
			}
		}
	}
}

// constants returns the values of the constants of a type in this package.
func constants(t *testing.T, name string) (values []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.CONST {
				values = append(values, valuesOf(d, name)...)
			}
		}
	}
	if len(values) == 0 {
		t.Fatalf("there is no constant of type %s", name)
	}
	return values
}

// valuesOf returns the values of a declaration's constants of a type.
func valuesOf(declaration *ast.GenDecl, name string) (values []string) {
	for _, spec := range declaration.Specs {
		spec, _ := spec.(*ast.ValueSpec)
		if typeName, ok := spec.Type.(*ast.Ident); ok && typeName.Name == name {
			literal, _ := spec.Values[0].(*ast.BasicLit)
			values = append(values, strings.Trim(literal.Value, `"`))
		}
	}
	return values
}

// One attempt is in the singular.
func TestPollsSentenceCounts(t *testing.T) {
	for want, event := range map[string]Event{
		"r1#2 asks once more, in vain":           {Sale: "r1#2", Command: &Command{Polls: 1}},
		"r1#2 asks node 3 2 more times, in vain": {Sale: "r1#2", Node: 3, Command: &Command{Polls: 2}},
	} {
		if got := pollsSentence(language.English, event); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

// The Chinese sentence about a failed sale translates its code; English, and a sale without a code, show the error.
func TestEndSentenceTranslatesCode(t *testing.T) {
	for want, event := range map[string]Event{
		"r1#2 失败：Redis 拒绝了命令": {Sale: "r1#2", Error: "GET: OOM", Code: "redis_refused"},
		"r1#2 失败：sold out":    {Sale: "r1#2", Error: "sold out"},
	} {
		if got := endSentence(language.Chinese, event); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

// The catalogue says that the witness shows an anomaly if and only if a finding does.
func TestCatalogueNamesWitness(t *testing.T) {
	for _, known := range anomaly.Catalogue() {
		found := slices.ContainsFunc(findingTexts(), func(r findingText) bool { return r.anomaly == known.ID })
		if found != slices.Contains(strings.Fields(known.Parts), "witness") {
			t.Errorf("%s is shown by %q, and a finding is one: %t", known.ID, known.Parts, found)
		}
	}
	for _, r := range findingTexts() {
		if r.anomaly != "" && r.anomaly.Row().ID == "" {
			t.Errorf("%s is %q, which is not in the catalogue", r.kind, r.anomaly)
		}
	}
}
