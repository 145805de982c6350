package web_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/internal/test/suite"
)

// Two browsers watch one cluster: two clicks on "buy" show v2's foreign delete to both, named and explained, within ten seconds.
func TestTwoBrowsersSeeTheForeignDelete(t *testing.T) {
	suite.LongOnly(t, "the quick suite draws what a server might send")
	url := serve(t, "cluster", "--replicas", "2", "--lock.version", "v2", "--lock.ttl", "2s", "--sale.think_time", "3s")
	buyer, watcher := open(t, url+"/#/"), open(t, url+"/#/")
	for _, p := range []*page{buyer, watcher} {
		p.waitUntil("the run is shown", `document.querySelector("h1").innerText.startsWith("v2")`)
	}
	began := time.Now()
	buyer.click(".buy")
	buyer.waitUntil("one is inside", `document.querySelector(".lane .inside")`)
	buyer.click(".buy")
	for _, p := range []*page{buyer, watcher} {
		p.waitWithin(10*time.Second, "the foreign delete is named",
			`[...document.querySelectorAll(".story li")].some(turn => turn.innerText.includes("A removed B's lock"))`)
		p.waitUntil("each turn is in its place", `document.querySelectorAll(".story li").length ===
			[...document.querySelectorAll(".spot")].filter(spot => spot.checkVisibility()).length && document.querySelector(".held .cross")`)
	}
	t.Logf("seen by both %v after the first click", time.Since(began).Round(10*time.Millisecond))
	const sales = `[...document.querySelectorAll(".lane")].map(lane => lane.dataset.sale).sort().join()`
	mine, other := eval[string](buyer, sales), eval[string](watcher, sales)
	if mine != other || !strings.HasPrefix(mine, "A,") {
		t.Errorf("one browser shows the sales %q, the other one %q", mine, other)
	}
	watcher.waitUntil("the lost update is said in words", `document.querySelector(".verdict")?.innerText.includes("1 update was lost")`)
	buyer.waitUntil("each buyer has an answer", `document.querySelectorAll(".orders .good").length === 2`)
	watcher.click(".seen summary")
	watcher.click(`[data-kind="removed"] li button`)
	watcher.waitUntil("the two are drawn", `document.querySelector("dialog.pair .trace")`)
}
