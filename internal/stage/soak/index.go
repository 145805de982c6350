package soak

import "slices"

// index finds orders and sales by the order's id. It is small, for there may be millions.
type index struct {
	order map[string]int // the first order of that id in a ledger
	more  map[string]int // further ones, of the few ids that are there again
	sale  map[string]int // whose buyer was told the id
}

func indexOf(r Record) index {
	all := index{order: make(map[string]int, len(r.Orders)), more: map[string]int{}, sale: make(map[string]int, len(r.Sales))}
	for i := range r.Orders {
		if _, known := all.order[r.Orders[i].ID]; known {
			all.more[r.Orders[i].ID]++
			continue
		}
		all.order[r.Orders[i].ID] = i
	}
	for i := range r.Sales {
		if id := r.Sales[i].OrderID; id != "" {
			all.sale[id] = i
		}
	}
	return all
}

// orders counts the orders of that id.
func (x index) orders(id string) int {
	if _, known := x.order[id]; !known {
		return 0
	}
	return 1 + x.more[id]
}

// saleOf gives the sale whose buyer was told that id, nil if there is none.
func (r *Record) saleOf(x index, id string) *Sale {
	if i, known := x.sale[id]; known {
		return &r.Sales[i]
	}
	return nil
}

// sorted gives pointers to all of these, in an order.
func sorted[T any](all []T, compare func(a, b *T) int) []*T {
	pointers := make([]*T, len(all))
	for i := range all {
		pointers[i] = &all[i]
	}
	slices.SortFunc(pointers, compare)
	return pointers
}
