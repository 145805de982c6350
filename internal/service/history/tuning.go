package history

import (
	"encoding/json"
	"time"
)

// Tuning is what the sales of a run are made with, in every replica, whatever each is configured with. The zero Tuning is none.
type Tuning struct {
	TTL    time.Duration // of the lock
	Think  time.Duration // between reading the stock and writing it
	Nested int           // calls that take the lock again
}

// IsZero reports whether there is none: then each replica's configuration counts.
func (t Tuning) IsZero() bool { return t == Tuning{} }

// tuningText is how Redis keeps it, in milliseconds.
type tuningText struct {
	TTL    int64 `json:"ttl_ms"`
	Think  int64 `json:"think_ms"`
	Nested int   `json:"nested"`
}

// String is what ParseTuning reads; "" if there is none.
func (t Tuning) String() string {
	if t.IsZero() {
		return ""
	}
	text, _ := json.Marshal(tuningText{t.TTL.Milliseconds(), t.Think.Milliseconds(), t.Nested}) // numbers do not fail
	return string(text)
}

// ParseTuning reads what String wrote.
func ParseTuning(text string) (Tuning, error) {
	if text == "" {
		return Tuning{}, nil
	}
	var t tuningText
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return Tuning{}, err
	}
	return Tuning{
		TTL: time.Duration(t.TTL) * time.Millisecond, Think: time.Duration(t.Think) * time.Millisecond, Nested: t.Nested,
	}, nil
}
