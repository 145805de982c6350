package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestIdempotencyKeySyntax(t *testing.T) {
	long := strings.Repeat("x", maxKeyLength)
	for _, c := range []struct {
		values []string
		key    string
		says   string // part of the error; "": the key is valid
	}{
		{nil, "", ""},
		{[]string{`"8e03978e-40d5-43e8-bc93-6894a57f9324"`}, "8e03978e-40d5-43e8-bc93-6894a57f9324", ""},
		{[]string{`8e03978e-40d5-43e8-bc93-6894a57f9324`}, "8e03978e-40d5-43e8-bc93-6894a57f9324", ""},
		{[]string{`"a key, with \"all\"; \\ of it "`}, `a key, with "all"; \ of it `, ""},
		{[]string{`" "`}, " ", ""},
		{[]string{`!#$%&'()*+-./:<=>?@[]^_{|}~`}, `!#$%&'()*+-./:<=>?@[]^_{|}~`, ""},
		{[]string{long}, long, ""},
		{[]string{`"` + long + `"`}, long, ""},
		{[]string{`"` + strings.Repeat(`\"`, maxKeyLength) + `"`}, strings.Repeat(`"`, maxKeyLength), ""},

		{[]string{""}, "", "Idempotency-Key is empty"},
		{[]string{`""`}, "", "Idempotency-Key is empty"},
		{[]string{"a", "a"}, "", "Idempotency-Key is there 2 times"},
		{[]string{"", "a"}, "", "Idempotency-Key is there 2 times"},
		{[]string{"a, b"}, "", `Idempotency-Key "a, b" is not one key`},
		{[]string{`"a", "b"`}, "", `is not one key`},
		{[]string{`"a`}, "", `is not one key`},
		{[]string{`a"`}, "", `is not one key`},
		{[]string{`"a\b"`}, "", `is not one key`},
		{[]string{`"a";b=c; d`}, "a", ""},
		{[]string{`"a";`}, "", `is not one key`},
		{[]string{`a;b=c`}, "", `is not one key`},
		{[]string{"two words"}, "", `is not one key`},
		{[]string{long + "x"}, "", "Idempotency-Key is too long"},
		{[]string{`"` + long + `x"`}, "", "Idempotency-Key is too long"},
		{[]string{"\"a\tb\""}, "", `Idempotency-Key "\"a\tb\"" has a character that is not printable ASCII`},
		{[]string{"\x7f"}, "", "has a character that is not printable ASCII"},
		{[]string{`"ключ"`}, "", "has a character that is not printable ASCII"},
	} {
		key, err := IdempotencyKey(http.Header{IdempotencyKeyHeader: c.values})
		if key != c.key || (err == nil) != (c.says == "") {
			t.Errorf("%q: %q, %v; want %q", c.values, key, err, c.key)
			continue
		}
		if c.says != "" && (!errors.Is(err, errBadRequest) || !strings.Contains(err.Error(), c.says+"; want one key of 1 to 255")) {
			t.Errorf("%q: %v; want %q", c.values, err, c.says)
		}
	}
}

// The order id of a key is the same in every process and version.
func TestOrderOfKeyIsStable(t *testing.T) {
	if id := OrderOfKey("a"); id != OrderOfKey("a") || id == OrderOfKey("b") || id != "0f86c5b2-9568-57b3-9673-f70252180811" {
		t.Errorf("OrderOfKey(%q) = %s, want 0f86c5b2-9568-57b3-9673-f70252180811, and another id for %q", "a", id, "b")
	}
}

// The OpenAPI document has the pattern that is parsed.
func TestOpenAPIHasKeySyntax(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Schema struct{ Pattern string } }
		}
	}
	if err := json.Unmarshal(openAPI, &document); err != nil {
		t.Fatal(err)
	}
	if pattern := document.Paths["/inventory/sale"]["post"].Parameters[0].Schema.Pattern; pattern != keySyntax.String() {
		t.Errorf("%s; want %s", pattern, keySyntax)
	}
}
