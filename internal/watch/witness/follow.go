package witness

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/shop/load"
	"lockstep/internal/shop/sse"
)

// KeepFollowing follows the stream at a URL until ctx ends, also when it has been away: after a pause it is asked again. The URL may be
// another one by then, or "" while there is none.
func KeepFollowing(ctx context.Context, url func() string, lastID string, pause time.Duration, see func(id string, event Event)) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: load.Dialer()}}
	for wait := time.Duration(0); lock.Sleep(ctx, lock.SystemClock{}, wait) == nil; wait = pause {
		if at := url(); at != "" {
			lastID, _ = Follow(ctx, client, at, lastID, see) // if it has failed, it is tried again
		}
	}
}

// longestLine is more than any event has.
const longestLine = 1 << 20

// Follow reads the stream at a URL, and calls see with each event and its id, until the stream ends or ctx does. lastID says where to
// begin, "" at the oldest event that is kept; Follow returns the id of the last one, for the next Follow.
func Follow(ctx context.Context, client *http.Client, url, lastID string, see func(id string, event Event)) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return lastID, err
	}
	request.Header.Set(sse.LastEventID, lastID)
	response, err := client.Do(request)
	if err != nil {
		return lastID, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return lastID, fmt.Errorf("GET %s: %s", url, response.Status)
	}
	for sent, err := range sse.Read(response.Body, longestLine) {
		if err != nil {
			return lastID, err
		}
		var event Event
		if err := json.Unmarshal(sent.Data, &event); err != nil {
			return lastID, fmt.Errorf("GET %s: %w", url, err)
		}
		lastID = cmp.Or(sent.ID, lastID)
		see(lastID, event)
	}
	return lastID, nil
}
