package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	"lockstep/internal/explore/anomaly"

	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
	"lockstep/museum/internal/search"
)

func main() {
	runtime.GOMAXPROCS(1)
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "museum", F: run}}, nil, nil)
}

var (
	faults   = flag.String("faults", "", "")
	name     = flag.String("library", "redislock", "")
	runs     = flag.Int("runs", 20000, "")
	together = flag.Bool("together", false, "")
	actors   = flag.Int("actors", 2, "")
)

func run(t *testing.T) {
	stage, err := play.NewStage(t)
	if err != nil {
		t.Fatal(err)
	}
	b, err := play.ParseBudget(*faults)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range library.All() {
		if l.Name == *name {
			res, err := search.Do(stage, l, play.Scenario{Actors: *actors, Together: *together, Faults: b}, search.Goal{Runs: *runs, Anomalies: []anomaly.Anomaly{anomaly.TwoHolders, anomaly.ForeignRelease, anomaly.LeftBehind, anomaly.Stuck, anomaly.GoroutineLeak}})
			fmt.Println(res.Runs, res.States, res.Depth, res.Complete, "missed", res.Missed, res.Took, err)
			for _, f := range res.Found {
				fmt.Println(f.Anomaly, len(f.Schedule), f.Schedule, f.Says)
			}
		}
	}
	os.Exit(0)
}
