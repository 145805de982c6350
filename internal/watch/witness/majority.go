package witness

import "slices"

// A lock on several masters is of parts, one on each: who has most of them is the holder.

// addPart takes the beginning of a part. It gives the holding of a majority that begins with it, or nil.
func (a *Account) addPart(part *Holding) *Holding {
	a.OnNodes = append(a.OnNodes, part)
	parts := a.partsOf(part.Holder)
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

// renewsPart takes that the expiry of a part was set.
func (a *Account) renewsPart(part *Holding) {
	if whole := a.wholeOf(part.Holder); whole != nil {
		whole.Lasts, whole.set = part.Lasts, part.set
	}
}

// endPart takes the end of a part. It gives the holding of a majority that ends with it, or nil. Somebody else may have ended it, or a
// master may have forgotten it.
func (a *Account) endPart(part *Holding) *Holding {
	whole := a.wholeOf(part.Holder)
	if whole == nil {
		return nil
	}
	if whole.lost == nil || !part.To.Before(whole.lost.To) {
		whole.lost = part
	}
	if len(a.partsOf(part.Holder)) != a.nodes/2 {
		return nil
	}
	last := whole.lost // several may have expired at once, and be noticed in another order
	whole.To, whole.End, whole.By, whole.Lasts = last.To, last.End, last.By, last.Lasts
	if kind, is := map[End]FindingKind{Taken: Removed, Replaced: Overwrote, Forgotten: Forgot}[whole.End]; is {
		a.find(Finding{Kind: kind, At: whole.To, By: whole.By, Of: whole.Holder, Node: last.Node})
	}
	return whole
}

// partsOf are a holder's parts that go on.
func (a *Account) partsOf(holder string) (parts []*Holding) {
	for _, p := range a.OnNodes {
		if p.Holder == holder && p.End == Lasting {
			parts = append(parts, p)
		}
	}
	return parts
}

// wholeOf is the holding of a majority that goes on; nil if the holder has none.
func (a *Account) wholeOf(holder string) *Holding {
	for _, h := range slices.Backward(a.Holdings) {
		if h.Holder == holder && h.End == Lasting {
			return h
		}
	}
	return nil
}
