package witness

import "time"

// Holding is the time in which the lock was one holder's in truth: as Redis saw it, as far as the replies tell.
type Holding struct {
	Holder string    `json:"holder"` // a sale, or a replica whose sales have it one after the other
	From   time.Time `json:"from"`
	To     time.Time `json:"to"` // zero: it did not end
	End    End       `json:"end"`
	By     string    `json:"by,omitempty"`   // who ended it; "" if it expired
	Lasts  Millis    `json:"ttl_ms"`         // expiry as it was set last; 0: none
	Node   int       `json:"node,omitempty"` // where, if it is that of a master alone, from 1 on

	set    time.Time // when it was set last, at the earliest
	lostOn int       // of a majority: the master without which it fell short
}

// End is how a holding ended.
type End string

// The ends.
const (
	Lasting   End = ""
	GivenBack End = "given-back"
	Expired   End = "expired"
	Taken     End = "removed"     // somebody else removed it
	Replaced  End = "overwritten" // somebody else wrote over it
	Forgotten End = "forgotten"   // Redis lost it
	Gone      End = "gone"        // nobody is known to have ended it
)

// Expires is when the lock expires unless it is renewed, at the earliest; zero if it never does.
func (h Holding) Expires() time.Time {
	if h.Lasts == 0 {
		return time.Time{}
	}
	return h.set.Add(time.Duration(h.Lasts))
}

// Is reports whether the lock was this sale's: by its own name, or by that of its replica.
func (h Holding) Is(sale string) bool { return isOf(h.Holder, sale) }

// expiredBy reports whether a holding may have expired by then.
func (h Holding) expiredBy(at time.Time) bool {
	return h.Lasts > 0 && !at.Before(h.set.Add(time.Duration(h.Lasts)))
}
