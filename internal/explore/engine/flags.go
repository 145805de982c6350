package engine

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"lockstep/internal/explore/fault"
	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// ErrScenarioText is returned when a text cannot be read as a scenario.
var ErrScenarioText = lock.WithCode("bad_request", "not a scenario")

// Flags reads a scenario from command-line flags. Add defines the flags, and Scenario returns their values after parsing.
type Flags struct {
	scenario Scenario // values of all flags but --faults
	faults   string   // value of --faults
}

// Add defines the flags in a flag set.
func (f *Flags) Add(set *pflag.FlagSet) {
	s := &f.scenario
	set.IntVar(&s.Actors, "actors", 2, "number of buyers")
	set.IntVar(&s.Sales, "sales", 1, "number of sales of each buyer, one after the other")
	set.IntVar(&s.Replicas, "replicas", 0, "number of processes; 0: one for each buyer")
	set.IntVar(&s.Try, "try", 0, "number of buyers that try once for the lock, and do not wait")
	set.IntVar(&s.Nested, "nested", 0, "number of nested calls that take the lock again")
	set.IntVar(&s.Overtakes, "overtakes", defaultOvertakes,
		"how often later sales may overtake a waiting one, for --anomaly starved")
	set.DurationVar(&s.Work, "work", 0, "how long a sale works under the lock, which expires after 10s")
	set.DurationVar(&s.Skew, "skew", 0,
		"clock error: the first process is behind Redis by this, the second ahead, the third right, and so on")
	set.DurationVar(&s.FreedWithin, "freed-within", 0, "time after which the lock of a dead holder has to be free; 0: any finite time")
	set.IntVar(&s.Nodes, "nodes", 0, "number of masters of a lock on several masters; 0: 3")
	set.StringVar(&f.faults, "faults", "", "faults that may happen, and how often each: expiry=1,crash=1")
}

// Faults returns the value of --faults as it was typed.
func (f *Flags) Faults() string { return f.faults }

// Scenario returns the scenario that was parsed. It fails for values that cannot be read. The caller calls Scenario.Check for the rest.
func (f *Flags) Scenario() (s Scenario, err error) {
	s = f.scenario
	switch { // 0 is the default in a Scenario, but a user who types it does not mean that
	case s.Sales == 0:
		return s, language.Translate(fmt.Errorf("sales: 0; it takes 1 to %d", MaxSales), "sales 不能是 0：取值 1 到 %d", MaxSales)
	case s.Overtakes == 0:
		return s, language.Translate(fmt.Errorf("overtakes: 0; it takes 1 to %d", MaxActors*MaxSales),
			"overtakes 不能是 0：取值 1 到 %d", MaxActors*MaxSales)
	}
	s.Faults, err = fault.Parse(f.faults, fault.Names())
	return s, err
}

// String formats a scenario as command-line flags, without those that have their default value.
func (s Scenario) String() string {
	var f Flags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	f.Add(set)
	f.scenario, f.faults = s, s.Faults.String()
	f.scenario.Sales, f.scenario.Overtakes = s.SalesEach(), s.MaxOvertakes()
	var flags []string
	set.VisitAll(func(flag *pflag.Flag) {
		if value := flag.Value.String(); value != flag.DefValue {
			flags = append(flags, "--"+flag.Name+" "+value)
		}
	})
	return strings.Join(flags, " ")
}

// ParseScenario parses the result of String. It fails with ErrScenarioText, and does not Check the scenario.
func ParseScenario(text string) (Scenario, error) {
	var f Flags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	f.Add(set)
	fail := func(err error) (Scenario, error) {
		var names []string
		set.VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
		return Scenario{}, fmt.Errorf("%w: %q: %w; it takes flags of lockstep explore, as in --actors 3 --faults expiry=1,crash=1: %s",
			ErrScenarioText, text, err, strings.Join(names, ", "))
	}
	if err := set.Parse(strings.Fields(text)); err != nil {
		return fail(err)
	}
	if set.NArg() > 0 {
		return fail(fmt.Errorf("unexpected argument %q", set.Arg(0)))
	}
	s, err := f.Scenario()
	if err != nil {
		return fail(err)
	}
	return s, nil
}
