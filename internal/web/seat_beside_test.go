//go:build long

package web_test

import (
	"strings"
	"testing"
)

func TestSeatBesideShowsTheCure(t *testing.T) {
	p := open(t, serve(t)+"/"+broken)
	p.steps(6)
	p.key("b")
	p.waitUntil("two columns are there", `document.querySelectorAll(".beside thead th").length === 2`)
	p.waitUntil("one row differs", `document.querySelectorAll(".beside tr.changed").length === 1`)
	p.waitForText("differs.")
	p.waitUntil("the answer is in sight", `(answer => answer?.innerText === "Under v3 it does not happen: foreign release" &&
		answer.getBoundingClientRect().bottom < innerHeight)(document.querySelector(".beside .answer.good"))`)
	if !strings.Contains(p.address(), "beside=v3") {
		t.Errorf("the address forgets the neighbour: %s", p.address())
	}
	p.visit("#/schedule/v2?in=--faults+expiry=1&do=A:SET&beside=v3")
	p.waitForText("No step differs so far.")
	p.visit("#/schedule/v3?in=--faults+expiry=1&do=A:SET+expiry+B:SET&beside=v4&anomaly=two-holders")
	p.waitUntil("so it says", `document.querySelector(".answer.bad")?.innerText.startsWith("Under v4 it happens anyway, at step 3")`)
}
