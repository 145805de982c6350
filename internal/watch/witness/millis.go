package witness

import (
	"strconv"
	"time"
)

// Millis is a duration that JSON shows in milliseconds.
type Millis time.Duration

// MarshalJSON writes whole milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(m).Milliseconds(), 10), nil
}

// UnmarshalJSON reads them.
func (m *Millis) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	*m = Millis(time.Duration(n) * time.Millisecond)
	return err
}
