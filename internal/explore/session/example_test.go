package session_test

import (
	"fmt"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/session"
)

// A's lock expires while A works. What can happen then?
func Example() {
	strategy, _ := evolution.Find("v4")
	scenario := explore.Scenario{Actors: 2}
	scenario.Faults[fault.Expiry] = 1
	session, err := session.New(strategy, scenario, "A:SET expiry")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	for _, c := range session.Now().Choices {
		fmt.Println(c.Token+":", c.Says, c.Shows)
	}
	for _, d := range session.Now().Disabled {
		fmt.Println("not "+d.What+":", d.Why)
	}
	if err := session.Take("B:SET"); err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range session.Now().State.Actors {
		fmt.Println(a.Name, "believes:", a.Believes)
	}
	fmt.Println("in truth:", session.Now().State.Holder)
	session.Undo()
	fmt.Println(session.Now().Schedule)
	// Output:
	// A:GET: A reads stock 100 []
	// B:SET: B takes the lock [two-holders]
	// not expiry: the budget expiry=1 is used up
	// A believes: true
	// B believes: true
	// in truth: B
	// A:SET expiry
}
