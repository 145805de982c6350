package fault_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore/fault"
	"lockstep/internal/language"
)

// Every fault has a unique name and texts in both languages. BubbleFaults lists those that have a text for bubbles.
func TestCatalogueIsComplete(t *testing.T) {
	names := map[string]bool{"": true}
	for _, row := range fault.All() {
		if names[row.Name] || fault.ByName(row.Name) != row.ID || row.ID.String() != row.Name {
			t.Errorf("%+v: the name is not unique, or ByName and String do not match it", row)
		}
		names[row.Name] = true
		for _, text := range []language.Text{row.Title, row.Description} {
			if english, chinese := text.In(language.English), text.In(language.Chinese); english == "" || chinese == english {
				t.Errorf("%s: English %q, Chinese %q; want both", row.Name, english, chinese)
			}
		}
		if row.Title.In(language.English) != strings.ReplaceAll(row.Name, "-", " ") {
			t.Errorf("%s has the English title %q; want its name with blanks", row.Name, row.Title.In(language.English))
		}
		if listed := slices.Contains(fault.BubbleFaults(), row.ID); listed != (row.InBubble != "") {
			t.Errorf("%s is listed for bubbles: %t; its text for them: %q", row.Name, listed, row.InBubble)
		}
	}
}

// Parse is the inverse of Budget.String.
func TestParseReadsWhatBudgetStringWrites(t *testing.T) {
	for _, row := range fault.All() {
		once := fault.Once(row.ID)
		parsed, err := fault.Parse(once.String(), fault.Names())
		if err != nil || parsed != once || once.String() != row.Name+"=1" {
			t.Errorf("%s: String = %q, and Parse of it = %v, %v", row.Name, once, parsed, err)
		}
		if once.Map()[row.Name] != 1 || len(once.Map()) != len(fault.All()) || once.HasNodeFaults() != row.OnNode {
			t.Errorf("%+v: Map = %v, HasNodeFaults = %t", row, once.Map(), once.HasNodeFaults())
		}
	}
}

func TestParseRefusesMalformedBudgets(t *testing.T) {
	bubble := []string{"slow", "crash"}
	for name, test := range map[string]struct {
		text string
		want string
		err  string
	}{
		"none":            {},
		"two":             {text: "crash=2,slow=1", want: "slow=1,crash=2"},
		"with spaces":     {text: "crash=2, slow=1", want: "slow=1,crash=2"},
		"zero":            {text: "slow=0"},
		"no number":       {text: "slow", err: `faults: "slow"; it takes NAME=TIMES, as in slow=1,crash=1`},
		"below zero":      {text: "slow=-1", err: `faults: "slow=-1"; it takes NAME=TIMES, as in slow=1,crash=1`},
		"twice":           {text: "slow=0,slow=1", err: "faults: slow is given twice"},
		"of another tool": {text: "slow=1,expiry=1", err: `faults: there is no "expiry"; there are slow, crash`},
		"nothing":         {text: "=1", err: `faults: there is no ""; there are slow, crash`},
	} {
		t.Run(name, func(t *testing.T) {
			budget, err := fault.Parse(test.text, bubble)
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("err = %v; want %s", err, test.err)
			}
			if budget.String() != test.want {
				t.Errorf("Parse = %v; want %s", budget, test.want)
			}
		})
	}
}

// Check refuses more than MaxTimes, and HasNodeFaults does not overflow.
func TestBudgetCheckRefusesMoreThanMaxTimes(t *testing.T) {
	large := fault.Budget{fault.NodeCrash: math.MaxInt, fault.NodeHang: math.MaxInt}
	if err := large.Check(); err == nil || !large.HasNodeFaults() {
		t.Errorf("Check(%v) = %v, HasNodeFaults = %t; want an error, and true", large, err, large.HasNodeFaults())
	}
	if err := (fault.Budget{fault.Expiry: fault.MaxTimes}).Check(); err != nil {
		t.Error(err)
	}
}
