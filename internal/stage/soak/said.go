package soak

import "sync"

// mostSaid is how much is kept of what the replicas say, in bytes.
const mostSaid = 4000

// lastWords keep the last of what several processes say.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

func (w *lastWords) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text...)
	w.text = append([]byte(nil), w.text[max(0, len(w.text)-mostSaid):]...)
	return len(text), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}
