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
	var made recordedBurst
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	if made.Result.Sold <= made.Result.Initial-made.Result.Remaining || len(made.Course) != recordedBuyers || !bothReadFullStock(made.Pair) {
		t.Errorf("%d sold, the stock is %d; %d courses; the pair: %+v", made.Result.Sold, made.Result.Remaining, len(made.Course), made.Pair)
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
