// Verdict says what the explorer finds in one lock: lockstep explore in small. Tests build it once for each mutant, and it is built from a
// third of the packages.
//
//	go run ./internal/test/verdict v2 --faults expiry=1 --anomaly foreign-release
//
// It prints holds, unknown, or broken and the anomaly.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/lock/evolution"
)

func main() {
	verdict, err := explored(context.Background(), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(2)
	}
	fmt.Println(verdict)
}

func explored(ctx context.Context, args []string) (string, error) {
	line, anomaly, _ := strings.Cut(strings.Join(args, " "), " --anomaly ")
	name, flags, _ := strings.Cut(line, " ")
	lock, err := evolution.Find(name)
	if err != nil {
		return "", err
	}
	scenario, err := explore.ParseScenario(flags)
	if err != nil {
		return "", err
	}
	var goal explore.Goal
	if anomaly != "" {
		goal.Anomalies = []explore.Anomaly{explore.Anomaly(anomaly)}
	}
	result, err := explore.Explore(ctx, lock, scenario, goal, explore.Bounds{})
	if err != nil {
		return "", err
	}
	verdict := string(result.Verdict())
	for _, found := range result.Found {
		verdict += " " + string(found.Anomaly)
	}
	return verdict, nil
}
