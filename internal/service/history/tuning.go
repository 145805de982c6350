package history

import "encoding/json"

// Tuning is what the sales of a run are made with, in every replica, whatever each is configured with. The zero Tuning is none.
type Tuning struct {
	TTL    int64 `json:"ttl_ms"`   // of the lock
	Think  int64 `json:"think_ms"` // between reading the stock and writing it
	Nested int   `json:"nested"`   // calls that take the lock again
}

// IsZero reports whether there is none: then each replica's configuration counts.
func (t Tuning) IsZero() bool { return t == Tuning{} }

// String is how Redis keeps it, for ParseTuning; "" if there is none.
func (t Tuning) String() string {
	if t.IsZero() {
		return ""
	}
	text, _ := json.Marshal(t) // numbers do not fail
	return string(text)
}

// ParseTuning reads what String wrote.
func ParseTuning(text string) (t Tuning, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &t)
	}
	return t, err
}
