package web_test

import (
	"fmt"
	"testing"

	"lockstep/internal/test/suite"
)

// What went wrong in the shop leads to the seat, which can show it with the same lock: a hint there finds a way.
func TestShopLinksLeadToABreach(t *testing.T) {
	suite.LongOnly(t, longShop)
	p := open(t, serve(t, "serve")+"/#/")
	for _, link := range [][2]string{
		{"v0", "together"}, {"v0", "lost-update"}, {"v1", "left-behind"}, {"v1", "waited-in-vain"},
		{"v2", "removed"}, {"v2", "expired-at-work"}, {"v2", "together"}, {"v2", "lost-update"}, {"v2", "wrote-late"},
		{"v3", "removed"}, {"v4", "waits-for-itself"}, {"v5", "together"}, {"v5", "lost-update"}, {"v5", "wrote-late"},
		{"v6", "expired-at-work"}, {"v6", "together"}, {"v6", "lost-update"}, {"v6", "wrote-late"}, {"v6", "forgot"},
		{"v7", "expired-at-work"}, {"v7", "together"}, {"v7", "refused-token"}, {"v9", "together"}, {"v9", "forgot"},
		{"getset", "overwrote"}, {"setex", "overwrote"},
	} {
		lock, kind := link[0], link[1]
		if steps := eval[float64](p, fmt.Sprintf(`import("/web/views/shop_words.js").then(async ({ seatOf }) => {
			const query = new URLSearchParams(seatOf(%q, %q).split("?")[1]);
			query.set("lock", %[1]q);
			return (await (await fetch("/seat/hint?" + query)).json()).steps ?? -9;
		})`, lock, kind)); steps <= 0 {
			t.Errorf("%s under %s: the seat is %v steps from it", kind, lock, steps)
		}
	}
}
