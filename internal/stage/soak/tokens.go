package soak

import "cmp"

// tokensGrow checks the order of the holders: where each has a fencing token, the stock falls in the order of the tokens, and no two sales
// of a run have the same. One pass over the orders is enough.
func tokensGrow(r Record) Check {
	check := Check{Rule: "the stock fell in the order of the fencing tokens, and no token came twice"}
	orders := sorted(r.Orders, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(b.Before, a.Before), cmp.Compare(a.Fence, b.Fence))
	})
	for i, order := range orders {
		if order.Fence == 0 {
			if fenced(r.Lock) {
				check.breaks("order %s has no token", order.ID)
			}
			continue
		}
		check.Checked++
		if i > 0 && orders[i-1].Run == order.Run && orders[i-1].Fence >= order.Fence {
			check.breaks("order %s took the stock from %d to %d with token %d, after order %s with token %d",
				order.ID, order.Before, order.After, order.Fence, orders[i-1].ID, orders[i-1].Fence)
		}
	}
	if check.Checked == 0 {
		check.note("%s has no tokens", r.Lock)
	}
	return check
}
