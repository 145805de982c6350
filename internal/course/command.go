package course

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
)

// Command is a command of a lesson, read: what a page needs to do the same. Line is what is typed after go run . in a terminal.
type Command struct {
	Kind     Kind   `json:"kind"`
	Line     string `json:"line"`
	Lock     string `json:"lock,omitempty"`    // of an exploration, a difference or a burst
	Other    string `json:"other,omitempty"`   // the second lock, of a contrast or a difference
	Scenario string `json:"in,omitempty"`      // of an exploration, as its flags
	Anomaly  string `json:"anomaly,omitempty"` // that it looks for; "": any
	Schedule string `json:"do,omitempty"`      // that it replays, or that the lesson says it finds
	Name     string `json:"name,omitempty"`    // of the lab; the number of the exercise
	Buyers   int    `json:"buyers,omitempty"`  // of a burst
}

// Kind is what a command does.
type Kind string

// The kinds of commands.
const (
	Explores  Kind = "explore"  // looks for a schedule
	Replays   Kind = "replay"   // steps through one
	Contrasts Kind = "contrast" // shows one under two locks
	Tabulates Kind = "table"    // looks for every anomaly of every lock
	Differs   Kind = "diff"
	Lab       Kind = "lab"
	Checks    Kind = "check" // an exercise
	Bursts    Kind = "burst"
)

// ReadCommand reads what stands after go run . in a lesson. What it does not know is an ErrForm: a page could not do it.
func ReadCommand(line string) (c Command, err error) {
	words, flags := words(line)
	c = Command{Kind: Kind(words[0]), Line: line}
	take := func(name string) string {
		value := flags[name]
		delete(flags, name)
		return value
	}
	take("--lang")
	switch rest := words[1:]; {
	case c.Kind == Explores && len(rest) <= 1:
		err = c.explores(rest, flags)
		return c, err
	case c.Kind == Differs && len(rest) == 2:
		c.Lock, c.Other = rest[0], rest[1]
	case (c.Kind == Lab || c.Kind == Checks) && len(rest) == 1:
		c.Name = rest[0]
	case c.Kind == Bursts && len(rest) == 0:
		take("-c")
		c.Lock = take("--lock")
		if c.Buyers, err = strconv.Atoi(take("-n")); err != nil {
			return c, fmt.Errorf("%w: %s: -n: %w", ErrForm, line, err)
		}
	default:
		return c, fmt.Errorf("%w: a page cannot do %q", ErrForm, line)
	}
	if len(flags) > 0 {
		return c, fmt.Errorf("%w: a page cannot do %q: what is %v?", ErrForm, line, flags)
	}
	return c, c.known(c.Lock, c.Other)
}

// words parts a command from its flags, each of which has a value, but for --all.
func words(line string) (words []string, flags map[string]string) {
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

// explores reads the flags of an exploration. Those that are none of the command's own are the scenario's.
func (c *Command) explores(lock []string, flags map[string]string) error {
	_, all := flags["--all"]
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
	case all && len(lock) == 0 && len(flags) == 0:
		c.Kind = Tabulates
		return nil
	case all || len(lock) == 0:
		return fmt.Errorf("%w: a page cannot do %q", ErrForm, c.Line)
	case c.Other != "":
		c.Kind = Contrasts
	case c.Schedule != "":
		c.Kind = Replays
	}
	c.Lock = lock[0]
	if c.Anomaly != "" && !slices.Contains(explore.Anomalies(), explore.Anomaly(c.Anomaly)) {
		return fmt.Errorf("%w: %s: there is no anomaly %q", ErrForm, c.Line, c.Anomaly)
	}
	return c.known(c.Lock, c.Other)
}

// known fails if a lock, where one is named, is none, or cannot be in the scenario.
func (c *Command) known(locks ...string) error {
	in, err := explore.ParseScenario(c.Scenario)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrForm, c.Line, err)
	}
	for _, name := range locks {
		if name == "" {
			continue
		}
		lock, err := evolution.Find(name)
		if err == nil {
			err = in.CheckFor(lock)
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrForm, c.Line, err)
		}
	}
	return nil
}
