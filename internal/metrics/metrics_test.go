package metrics

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"lockstep/internal/service/history"
)

// Only a few scrapes are answered at once, because each asks Redis and takes memory.
func TestConcurrentScrapesAreBounded(t *testing.T) {
	scrapes, scrape, refused := 0, func() {}, 0
	metrics := New("r1", func(context.Context) (history.Tally, error) { // another comes while this one is answered
		if scrapes++; scrapes < 10*maxScrapes {
			scrape()
		}
		return history.Tally{}, nil
	}, nil)
	scrape = func() {
		answer := httptest.NewRecorder()
		metrics.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		if answer.Code == http.StatusServiceUnavailable {
			refused++
		}
	}
	if scrape(); scrapes != maxScrapes || refused != 1 {
		t.Errorf("%d are answered at once, and %d refused; want %d and 1", scrapes, refused, maxScrapes)
	}
}
