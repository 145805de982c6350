package history

import "fmt"

// Means says in words why the verdict is what it is.
func (r Report) Means() string {
	fell := r.Initial - r.Remaining
	switch {
	case r.Lost > 0 && r.Oversold > 0:
		return fmt.Sprintf("%d sold of %d, and the stock fell by %d only: %s lost",
			r.Sold, r.Initial, fell, count(r.Lost, "update was", "updates were"))
	case r.Lost > 0:
		return fmt.Sprintf("%d sold, but the stock fell by %d only: %s lost, and as many pieces can be sold a second time",
			r.Sold, fell, count(r.Lost, "update was", "updates were"))
	case r.Oversold > 0:
		return fmt.Sprintf("%d sold of %d: %d more than there were", r.Sold, r.Initial, r.Oversold)
	case r.Lost < 0:
		return fmt.Sprintf("%d sold, but the stock fell by %d: %s gone without an order", r.Sold, fell, count(-r.Lost, "piece is", "pieces are"))
	case r.Verdict == Pass:
		return fmt.Sprintf("stock and orders agree, with up to %d requests in flight at once", r.MaxInFlight)
	case r.Sold == 0:
		return "nothing was sold, so nothing was put to the test"
	default:
		return "no two requests were in flight at once, so nothing was put to the test"
	}
}

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
