package history

import "time"

// Settings are what the sales of a run are made with, as a replica is configured. Settings that are equal are the same.
type Settings struct {
	Lock    string // its name
	Initial int64  // stock of a first run

	TTL           time.Duration // of the lock
	RetryInterval time.Duration // pause between two attempts of a waiter, or of a check-and-set
	WaitTimeout   time.Duration // longest wait for the lock
	HandOffLimit  int           // how often a process hands the lock to its own next sale while another process may wait

	Segments int // in which the stock is, with a lock each; of segmented alone

	Think  time.Duration // between reading the stock and writing it
	Nested int           // calls that take the lock again
}

// Tuning is what the sales of a run are made with, in every replica, whatever each is configured with. The zero Tuning is none.
type Tuning struct {
	TTL    int64 `json:"ttl_ms"`   // of the lock
	Think  int64 `json:"think_ms"` // between reading the stock and writing it
	Nested int   `json:"nested"`   // calls that take the lock again
}

// Tuned returns these settings with what a tuning says.
func (s Settings) Tuned(t Tuning) Settings {
	if t != (Tuning{}) {
		s.TTL, s.Think, s.Nested = millis(t.TTL), millis(t.Think), t.Nested
	}
	return s
}

// Tuning returns what these settings say of what can be tuned.
func (s Settings) Tuning() Tuning {
	return Tuning{TTL: s.TTL.Milliseconds(), Think: s.Think.Milliseconds(), Nested: s.Nested}
}

// LongestSale returns how long a sale in flight may go on: one wait timeout at the barrier, one for its lock and one for each nested call;
// its think time; and its commands.
func (s Settings) LongestSale() time.Duration {
	return time.Duration(s.Nested+2)*s.WaitTimeout + s.Think + 10*time.Second
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
