package main

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
)

func TestDbg(t *testing.T) {
	stage, _ := play.NewStage(t)
	b, _ := play.ParseBudget("slow=1")
	for range 2 {
		_, err := stage.Play(library.Rueidislock(true), play.Scenario{Actors: 2, Faults: b}, strings.Fields("A:Lock slow A:SET A:DEL"), func(r *play.Run) error {
			r.Fingerprint()
			fmt.Println(r.Debug, r.Steps())
			f, err := r.Check()
			fmt.Println(f, err)
			r.Fingerprint()
			fmt.Println(r.Debug, r.Steps())
			return nil
		})
		fmt.Println(err)
	}
}
