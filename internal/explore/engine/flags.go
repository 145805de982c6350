package engine

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"lockstep/internal/explore/fault"
	"lockstep/internal/lock"
)

// ErrScenarioText means that a text is no scenario.
var ErrScenarioText = lock.WithCode("bad_request", "no scenario")

// Flags are a scenario as flags of a command line: what String writes. Add begins them, and Scenario gives what was read.
type Flags struct {
	scenario Scenario
	faults   string
}

// Add adds the flags to a set.
func (f *Flags) Add(to *pflag.FlagSet) {
	s := &f.scenario
	to.IntVar(&s.Actors, "actors", 2, "how many buyers there are")
	to.IntVar(&s.Sales, "sales", 1, "how many sales each of them makes, one after the other")
	to.IntVar(&s.Replicas, "replicas", 0, "how many processes they are in; 0: one each")
	to.IntVar(&s.Try, "try", 0, "how many of them try once for the lock, and do not wait")
	to.IntVar(&s.Nested, "nested", 0, "how many nested calls take the lock again")
	to.IntVar(&s.Overtakes, "overtakes", defaultOvertakes,
		"how often a sale may be overtaken by others that asked after it: --anomaly starved")
	to.DurationVar(&s.Work, "work", 0, "how long a sale works under the lock; its expiry is 10s")
	to.DurationVar(&s.Skew, "skew", 0,
		"how far clocks are off: the first process's is behind Redis's, the second's ahead, the third's right, and so on")
	to.DurationVar(&s.FreedWithin, "freed-within", 0, "how long the lock of a holder that died may stay; 0: any time that ends")
	to.IntVar(&s.Nodes, "nodes", 0, "how many masters the lock is on, if it is on several; 0: 3")
	to.StringVar(&f.faults, "faults", "", "what may go wrong, and how often: expiry=1,crash=1")
}

// Faults returns those that were read, as they were written.
func (f *Flags) Faults() string { return f.faults }

// Scenario returns the one that was read. It may be one that Check refuses; what cannot be read at all is an error.
func (f *Flags) Scenario() (s Scenario, err error) {
	s = f.scenario
	switch { // 0 stands for what is usual, and nobody who types it means that
	case s.Sales == 0:
		return s, fmt.Errorf("sales: 0; it takes 1 to %d", MaxSales)
	case s.Overtakes == 0:
		return s, fmt.Errorf("overtakes: 0; it takes 1 to %d", MaxActors*MaxSales)
	}
	s.Faults, err = fault.Parse(f.faults, fault.Names())
	return s, err
}

// String writes a scenario as the flags of the command line; two actors and nothing else as "".
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

// ParseScenario reads what String writes, and fails with ErrScenarioText. That it is checked is the caller's part.
func ParseScenario(text string) (Scenario, error) {
	var f Flags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	f.Add(set)
	wrong := func(err error) (Scenario, error) {
		var names []string
		set.VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
		return Scenario{}, fmt.Errorf("%w: %q: %w; it takes flags of lockstep explore, as in --actors 3 --faults expiry=1,crash=1: %s",
			ErrScenarioText, text, err, strings.Join(names, ", "))
	}
	if err := set.Parse(strings.Fields(text)); err != nil {
		return wrong(err)
	}
	if set.NArg() > 0 {
		return wrong(fmt.Errorf("what is %q?", set.Arg(0)))
	}
	s, err := f.Scenario()
	if err != nil {
		return wrong(err)
	}
	return s, nil
}
