package witness

import "slices"

// A lock on several masters is of parts, one on each: who has most of them is the holder.

// addPart takes the beginning of a part. It gives the holding of a majority that begins with it, or nil.
func (a *Account) addPart(part *Holding) *Holding {
	a.OnNodes = append(a.OnNodes, part)
	parts := lasting(a.OnNodes, part.Holder)
	if len(parts) != a.nodes/2+1 {
		return nil
	}
	whole := *part
	whole.Node = 0
	for _, p := range parts {
		whole.From = later(whole.From, p.From)
	}
	return &whole
}

// renewPart takes that the expiry of a part was set.
func (a *Account) renewPart(part *Holding) {
	if whole := wholeOf(a.Holdings, part.Holder); whole != nil {
		whole.Lasts, whole.set = part.Lasts, part.set
	}
}

// endPart takes the end of a part. It gives the holding of a majority that ends with it, or nil. Somebody else may have ended it, or a
// master may have forgotten it.
func (a *Account) endPart(part *Holding) *Holding {
	whole := wholeOf(a.Holdings, part.Holder)
	if whole == nil {
		return nil
	}
	if whole.lost == nil || !part.To.Before(whole.lost.To) {
		whole.lost = part
	}
	if len(lasting(a.OnNodes, part.Holder)) != a.nodes/2 {
		return nil
	}
	last := whole.lost // several may have expired at once, and be noticed in another order
	whole.To, whole.End, whole.By, whole.Lasts = last.To, last.End, last.By, last.Lasts
	if kind, is := map[End]FindingKind{Taken: Removed, Replaced: Overwrote, Forgotten: Forgot}[whole.End]; is {
		a.find(Finding{Kind: kind, At: whole.To, By: whole.By, Of: whole.Holder, Node: last.Node})
	}
	return whole
}

// lasting are a holder's holdings that go on.
func lasting(holdings []*Holding, holder string) (all []*Holding) {
	for _, h := range holdings {
		if h.Holder == holder && h.End == Lasting {
			all = append(all, h)
		}
	}
	return all
}

// wholeOf is the holding of a majority that goes on; nil if the holder has none.
func wholeOf(holdings []*Holding, holder string) *Holding {
	for _, h := range slices.Backward(holdings) {
		if h.Holder == holder && h.End == Lasting {
			return h
		}
	}
	return nil
}
