package replica

import "sync"

// mostSaid is how much is kept of what replicas say, in bytes.
const mostSaid = 4000

// Said keeps the last of what several replicas say.
type Said struct {
	mu   sync.Mutex
	text []byte
}

func (s *Said) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, text...)
	s.text = append([]byte(nil), s.text[max(0, len(s.text)-mostSaid):]...)
	return len(text), nil
}

func (s *Said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}
