package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"
)

// The recorded burst that a tab shows first has two buyers that read the same stock and both write one less, and its file is small.
func TestRecordedBurstShowsALostUpdate(t *testing.T) {
	t.Parallel()
	text, err := record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var burst recordedBurst
	if err := json.Unmarshal(text, &burst); err != nil {
		t.Fatal(err)
	}
	result := burst.Result
	if result.Sold <= result.Initial-result.Remaining || len(burst.Course) != recordedBuyers || !bothReadFullStock(burst.Pair) {
		t.Errorf("%d sold, the stock is %d; %d courses; the pair: %+v", result.Sold, result.Remaining, len(burst.Course), burst.Pair)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(text); err != nil || writer.Close() != nil {
		t.Fatal(err)
	}
	if packed.Len() > 40_000 {
		t.Errorf("it has %d bytes, packed", packed.Len())
	}
	t.Log(len(text), packed.Len())
}
