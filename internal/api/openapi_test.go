package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"lockstep/internal/api/answer"
	"lockstep/internal/evolution"
	"lockstep/internal/service/history"
)

// The bounds in the OpenAPI document are those of the code.
func TestOpenAPIHasBounds(t *testing.T) {
	type schema struct {
		Minimum, Maximum *int64
		Enum             []string
		Properties       map[string]schema
	}
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	put := func(path string) map[string]schema {
		return doc.Paths[path]["put"].RequestBody.Content["application/json"].Schema.Properties
	}
	for _, c := range []struct {
		name        string
		bounds      schema
		least, most int64
	}{
		{"stock", put("/inventory")["stock"], 0, history.MaxStock},
		{"ttl_ms", put("/settings")["ttl_ms"], minTTLMillis, maxTTLMillis},
		{"think_ms", put("/settings")["think_ms"], 0, maxThinkMillis},
		{"nested", put("/settings")["nested"], 0, maxNested},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.bounds.Minimum == nil || c.bounds.Maximum == nil || *c.bounds.Minimum != c.least || *c.bounds.Maximum != c.most {
				t.Errorf("got %+v; want %d to %d", c.bounds, c.least, c.most)
			}
		})
	}
	if got := doc.Components.Schemas["Strategy"].Enum; !slices.Equal(got, evolution.Names()) {
		t.Errorf("strategies: %v; want %v", got, evolution.Names())
	}
}

// An unknown language is refused; English is the default.
func TestLanguageRefusesUnknownValue(t *testing.T) {
	for query, want := range map[string]string{"": "en", "?lang=": "en", "?lang=zh": "zh", "?lang=AAA": "", "?lang=EN": ""} {
		t.Run(fmt.Sprintf("%q", query), func(t *testing.T) {
			in, err := Language(httptest.NewRequestWithContext(t.Context(), "GET", "/course"+query, http.NoBody))
			status, _ := answer.StatusOf(err)
			if string(in) != want || (err != nil) != (want == "") || err != nil && status != http.StatusBadRequest {
				t.Errorf("got %q, %v; want %q", in, err, want)
			}
		})
	}
}

// noMetrics is a Metrics that counts nothing.
type noMetrics struct{ http.Handler }

func (noMetrics) Answered(string) {}
