package course

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
)

// Command is a parsed command of a lesson, with what the page in the browser needs to have the same effect.
type Command struct {
	Kind     Kind   `json:"kind"`
	Line     string `json:"line"`              // what a reader types after "go run ."
	Lock     string `json:"lock,omitempty"`    // lock of an exploration, a difference or a burst; "": none
	Other    string `json:"other,omitempty"`   // second lock of a contrast or a difference; "": none
	Scenario string `json:"in,omitempty"`      // flags of the scenario of an exploration; "": no flags
	Anomaly  string `json:"anomaly,omitempty"` // anomaly that the exploration looks for; "": any
	Schedule string `json:"do,omitempty"`      // schedule that is replayed, or that the lesson shows as the result; "": none
	Name     string `json:"name,omitempty"`    // name of the lab, or number of the exercise
	Buyers   int    `json:"buyers,omitempty"`  // number of buyers of a burst; 0: not a burst
}

// Kind is the kind of a command.
type Kind string

// The kinds of commands.
const (
	KindExplore  Kind = "explore"  // looks for a schedule with an anomaly
	KindReplay   Kind = "replay"   // replays a schedule
	KindContrast Kind = "contrast" // compares two locks under a schedule
	KindTable    Kind = "table"    // explores every lock for every anomaly
	KindDiff     Kind = "diff"     // shows how the code of two locks differs
	KindLab      Kind = "lab"      // runs a lab
	KindCheck    Kind = "check"    // checks an exercise
	KindBurst    Kind = "burst"    // sends many sales at once
)

// ParseCommand parses what follows "go run ." in a lesson. It returns ErrForm for a command that the page could not execute.
func ParseCommand(line string) (c Command, err error) {
	words, flags := splitFlags(line)
	c = Command{Kind: Kind(words[0]), Line: line}
	take := func(name string) string {
		value := flags[name]
		delete(flags, name)
		return value
	}
	take("--lang")
	args := words[1:]
	switch {
	case c.Kind == KindExplore && len(args) <= 1:
		err = c.parseExplore(args, flags)
		return c, err
	case c.Kind == KindDiff && len(args) == 2:
		c.Lock, c.Other = args[0], args[1]
	case (c.Kind == KindLab || c.Kind == KindCheck) && len(args) == 1:
		c.Name = args[0]
	case c.Kind == KindBurst && len(args) == 0:
		take("-c")
		c.Lock = take("--lock")
		if c.Buyers, err = strconv.Atoi(take("-n")); err != nil {
			return c, fmt.Errorf("%w: %s: -n: %w", ErrForm, line, err)
		}
	default:
		return c, fmt.Errorf("%w: the page cannot execute %q", ErrForm, line)
	}
	if len(flags) > 0 {
		return c, fmt.Errorf("%w: the page cannot execute %q: unknown flags %v", ErrForm, line, flags)
	}
	return c, c.checkLocks(c.Lock, c.Other)
}

// splitFlags separates the words of a command from its flags, which it returns as name → value. Every flag but --all has a value.
func splitFlags(line string) (words []string, flags map[string]string) {
	args, flags := Arguments(line), map[string]string{}
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			words = append(words, args[i])
		case args[i] == "--all" || i+1 == len(args):
			flags[args[i]] = ""
		default:
			flags[args[i]] = args[i+1]
			i++
		}
	}
	if len(words) == 0 {
		words = []string{""}
	}
	return words, flags
}

// parseExplore parses the flags of the command explore. Flags other than --all, --anomaly, --replay and --against belong to the scenario.
func (c *Command) parseExplore(locks []string, flags map[string]string) error {
	_, hasAll := flags["--all"]
	c.Anomaly, c.Schedule, c.Other = flags["--anomaly"], flags["--replay"], flags["--against"]
	for _, own := range []string{"--all", "--anomaly", "--replay", "--against"} {
		delete(flags, own)
	}
	var scenario []string
	for flag, value := range flags {
		scenario = append(scenario, flag+" "+value)
	}
	slices.Sort(scenario)
	c.Scenario = strings.Join(scenario, " ")
	switch {
	case hasAll && len(locks) == 0 && len(flags) == 0:
		c.Kind = KindTable
		return nil
	case hasAll || len(locks) == 0:
		return fmt.Errorf("%w: the page cannot execute %q", ErrForm, c.Line)
	case c.Other != "":
		c.Kind = KindContrast
	case c.Schedule != "":
		c.Kind = KindReplay
	}
	c.Lock = locks[0]
	if c.Anomaly != "" && !slices.Contains(explore.Anomalies(), explore.Anomaly(c.Anomaly)) {
		return fmt.Errorf("%w: %s: there is no anomaly %q", ErrForm, c.Line, c.Anomaly)
	}
	return c.checkLocks(c.Lock, c.Other)
}

// checkLocks returns ErrForm if a lock is unknown or cannot be explored in the scenario. It skips empty names.
func (c *Command) checkLocks(locks ...string) error {
	scenario, err := explore.ParseScenario(c.Scenario)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrForm, c.Line, err)
	}
	for _, name := range locks {
		if name == "" {
			continue
		}
		lock, err := evolution.Find(name)
		if err == nil {
			err = scenario.CheckFor(lock)
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrForm, c.Line, err)
		}
	}
	return nil
}
