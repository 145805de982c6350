package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"lockstep/museum/internal/exhibit"
	"lockstep/museum/internal/library"
)

// options are the options of the command line.
type options struct {
	arguments []string // command line without -yield
	library   string
	scenario  exhibit.Scenario
	runs      int
	replay    string
	write     bool
	yield     bool
	yields    bool // the program is built with a library that yields
	json      bool
}

func parse(arguments []string, help io.Writer) (o options, _ error) {
	flags := flag.NewFlagSet("museum", flag.ContinueOnError)
	flags.SetOutput(help)
	flags.StringVar(&o.library, "library", "", "explore this one, in one scenario; without it, the table of all is made")
	flags.IntVar(&o.scenario.Actors, "actors", 2, "how many actors there are")
	flags.BoolVar(&o.scenario.Together, "together", false, "all actors but the first are in one process")
	flags.StringVar(&o.scenario.Faults, "faults", "", "what may go wrong, and how often, as in slow=1,cancel=1")
	flags.IntVar(&o.runs, "runs", 2_000, "how many runs a scenario may take")
	flags.StringVar(&o.replay, "replay", "", "run this schedule alone, and draw it")
	flags.BoolVar(&o.write, "write", false, "write the tables into TABLES.md")
	flags.BoolVar(&o.yield, "yield", false, "of rueidislock, let a goroutine that was just started go first: in a copy that yields")
	flags.BoolVar(&o.yields, "yields", false, "this is already the program that -yield builds")
	flags.BoolVar(&o.json, "json", false, "write what was found as JSON")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	o.arguments = slices.Clone(arguments)
	for i, a := range o.arguments {
		if a == "-yield" || a == "--yield" {
			o.arguments[i] = "-yields"
		}
	}
	var err error
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("what is %q?", flags.Arg(0))
	case o.scenario.Actors < 1 || o.scenario.Actors > 4:
		err = fmt.Errorf("actors: %d; it takes 1 to 4", o.scenario.Actors)
	case o.library == "" && o.replay != "":
		err = fmt.Errorf("replay: of which library? There are %s", strings.Join(library.Names(), ", "))
	case o.library != "":
		_, err = library.Find(o.library)
	}
	return o, err
}
