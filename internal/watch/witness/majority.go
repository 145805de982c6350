package witness

import "slices"

// majority is a lock on several masters: who has most of them is the holder.
type majority struct {
	parts map[string][]*Holding // of each holder, on single masters, that go on
	held  map[string]*Holding   // of those who have most, or had
	lost  map[string]*Holding   // the part that such a holder lost last
}

func newMajority() majority {
	return majority{parts: map[string][]*Holding{}, held: map[string]*Holding{}, lost: map[string]*Holding{}}
}

// gains takes a part. It gives the holding of a majority that begins with it, or nil.
func (m *majority) gains(part *Holding, nodes int) *Holding {
	who := part.Holder
	m.parts[who] = append(m.parts[who], part)
	if len(m.parts[who]) != nodes/2+1 {
		return nil
	}
	whole := *part
	whole.Node = 0
	for _, p := range m.parts[who] {
		whole.From = later(whole.From, p.From)
	}
	m.held[who] = &whole
	delete(m.lost, who)
	return &whole
}

// renews takes that the expiry of a part was set.
func (m *majority) renews(part *Holding) {
	if whole := m.held[part.Holder]; whole != nil && whole.End == Lasting && part.Node > 0 {
		whole.Lasts, whole.set = part.Lasts, part.set
	}
}

// loses takes the end of a part. It gives the majority that ends with it, or nil, and what is to be found about that: somebody else ended
// it, or a master forgot it.
func (m *majority) loses(part *Holding, nodes int) (whole *Holding, found []Finding) {
	who := part.Holder
	m.parts[who] = slices.DeleteFunc(m.parts[who], func(p *Holding) bool { return p == part })
	if len(m.parts[who]) == 0 {
		delete(m.parts, who)
	}
	if whole = m.held[who]; whole == nil {
		return nil, nil
	}
	if last := m.lost[who]; last == nil || !part.To.Before(last.To) {
		m.lost[who] = part
	}
	if len(m.parts[who]) != nodes/2 {
		return nil, nil
	}
	last := m.lost[who] // several may have expired at once, and be noticed in another order
	delete(m.held, who)
	delete(m.lost, who)
	whole.To, whole.End, whole.By, whole.Lasts = last.To, last.End, last.By, last.Lasts
	if kind, is := map[End]FindingKind{Taken: Removed, Replaced: Overwrote, Forgotten: Forgot}[whole.End]; is {
		found = []Finding{{Kind: kind, At: whole.To, By: whole.By, Of: who, Node: last.Node}}
	}
	return whole, found
}
