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
		name   string
		values []string
		key    string
		says   string // part of the error; "": the key is valid
	}{
		{"no header", nil, "", ""},
		{"quoted UUID", []string{`"8e03978e-40d5-43e8-bc93-6894a57f9324"`}, "8e03978e-40d5-43e8-bc93-6894a57f9324", ""},
		{"UUID", []string{`8e03978e-40d5-43e8-bc93-6894a57f9324`}, "8e03978e-40d5-43e8-bc93-6894a57f9324", ""},
		{"escapes in quotes", []string{`"a key, with \"all\"; \\ of it "`}, `a key, with "all"; \ of it `, ""},
		{"quoted space", []string{`" "`}, " ", ""},
		{"all bare characters", []string{`!#$%&'()*+-./:<=>?@[]^_{|}~`}, `!#$%&'()*+-./:<=>?@[]^_{|}~`, ""},
		{"longest, bare", []string{long}, long, ""},
		{"longest, quoted", []string{`"` + long + `"`}, long, ""},
		{"longest, escaped", []string{`"` + strings.Repeat(`\"`, maxKeyLength) + `"`}, strings.Repeat(`"`, maxKeyLength), ""},

		{"empty", []string{""}, "", "Idempotency-Key is empty"},
		{"empty quotes", []string{`""`}, "", "Idempotency-Key is empty"},
		{"two headers", []string{"a", "a"}, "", "Idempotency-Key is there 2 times"},
		{"empty and another header", []string{"", "a"}, "", "Idempotency-Key is there 2 times"},
		{"list", []string{"a, b"}, "", `Idempotency-Key "a, b" is not one key`},
		{"list of quoted keys", []string{`"a", "b"`}, "", `is not one key`},
		{"open quote", []string{`"a`}, "", `is not one key`},
		{"closing quote alone", []string{`a"`}, "", `is not one key`},
		{"bad escape", []string{`"a\b"`}, "", `is not one key`},
		{"quoted key with parameters", []string{`"a";b=c; d`}, "a", ""},
		{"quoted key with an empty parameter", []string{`"a";`}, "", `is not one key`},
		{"bare key with a parameter", []string{`a;b=c`}, "", `is not one key`},
		{"two words", []string{"two words"}, "", `is not one key`},
		{"too long, bare", []string{long + "x"}, "", "Idempotency-Key is too long"},
		{"too long, quoted", []string{`"` + long + `x"`}, "", "Idempotency-Key is too long"},
		{"tab", []string{"\"a\tb\""}, "", `Idempotency-Key "\"a\tb\"" has a character that is not printable ASCII`},
		{"control character", []string{"\x7f"}, "", "has a character that is not printable ASCII"},
		{"not ASCII", []string{`"ключ"`}, "", "has a character that is not printable ASCII"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, err := IdempotencyKey(http.Header{IdempotencyKeyHeader: c.values})
			if key != c.key || (err == nil) != (c.says == "") {
				t.Errorf("got %q, %v; want %q", key, err, c.key)
				return
			}
			if c.says != "" && (!errors.Is(err, errBadRequest) || !strings.Contains(err.Error(), c.says+"; want one key of 1 to 255")) {
				t.Errorf("got %v; want %q", err, c.says)
			}
		})
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
