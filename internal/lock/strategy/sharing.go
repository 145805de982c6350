package strategy

// Sharing says who may hold a lock together. The zero value: nobody.
type Sharing struct {
	Places int                     // of a semaphore: so many may hold it; 0: one
	Shares func(owner string) bool // of a read-write lock: whether an owner shares it with others who do; nil: none does
}

// Most is how many may hold it who do not share it.
func (s Sharing) Most() int { return max(s.Places, 1) }

// SharedBy reports whether an owner shares it.
func (s Sharing) SharedBy(owner string) bool { return s.Shares != nil && s.Shares(owner) }
