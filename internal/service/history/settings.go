package history

import "time"

// Settings configures the sales of a run, as in the configuration of a replica. Settings can be compared with ==.
type Settings struct {
	Lock    string // name of the lock
	Initial int64  // stock of the first run

	TTL           time.Duration // lock expiry; positive
	RetryInterval time.Duration // pause between two attempts to lock, or to check-and-set
	WaitTimeout   time.Duration // longest wait for the lock
	HandOffLimit  int           // most hand-offs within a process while another process may wait

	Segments int // number of stock segments, with a lock each; only for lock segmented

	Think  time.Duration // pause between reading and writing the stock
	Nested int           // number of nested calls that take the lock again
}

// Tuning overrides some settings of a run in every replica. The zero Tuning overrides nothing.
type Tuning struct {
	TTL    int64 `json:"ttl_ms"`   // lock expiry, in ms
	Think  int64 `json:"think_ms"` // pause between reading and writing the stock, in ms
	Nested int   `json:"nested"`   // number of nested calls that take the lock again
}

// WithTuning returns the settings with those of t in place of their own.
func (s Settings) WithTuning(t Tuning) Settings {
	if t != (Tuning{}) {
		s.TTL, s.Think, s.Nested = millis(t.TTL), millis(t.Think), t.Nested
	}
	return s
}

// Tuning returns the settings that a Tuning can override.
func (s Settings) Tuning() Tuning {
	return Tuning{TTL: s.TTL.Milliseconds(), Think: s.Think.Milliseconds(), Nested: s.Nested}
}

// commandAllowance is the time that LongestSale allows for the commands of a sale. It covers one command that takes all timeouts of the
// client (4 s for a connection, 3 s to write, 3 s to read); the others take milliseconds.
const commandAllowance = 10 * time.Second

// LongestSale returns an upper bound for the duration of a sale in flight: a wait timeout at the barrier, for the lock and for each nested
// call; the think time; and commandAllowance.
func (s Settings) LongestSale() time.Duration {
	return time.Duration(s.Nested+2)*s.WaitTimeout + s.Think + commandAllowance
}

// millis converts milliseconds.
func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
