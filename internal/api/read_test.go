package api

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// Read accepts one JSON object whose names are known, spelled exactly, and unique. The error names the mistake.
func TestReadIsStrict(t *testing.T) {
	for _, c := range []struct{ body, says string }{
		{`{"stock":200}`, ""},
		{`{"stock":200.0}`, ""},
		{`{"stock":2e2}`, ""},
		{" {\n\"stock\": 200 , \"name\":\"a\"}\n ", ""},
		{``, "the body is empty"},
		{"  \n", "the body: jsontext: unexpected EOF"},
		{`null`, "the body: a JSON null is not allowed"},
		{`[]`, "the body: a JSON array is not allowed"},
		{`5`, "the body: a JSON number is not allowed"},
		{`true`, "the body: a JSON true is not allowed"},
		{`"stock"`, "the body: a JSON string is not allowed"},
		{`{"STOCK":200}`, `"STOCK" is not allowed`},
		{`{"Stock":200,"stock":1}`, `"Stock" is not allowed`},
		{`{"nonsense":1}`, `"nonsense" is not allowed`},
		{`{"":1}`, `"" is not allowed`},
		{`{"stock":1,"stock":2}`, `the body: jsontext: duplicate object member name "stock"`},
		{`{"stock":1,"\u0073tock":2}`, `the body: jsontext: duplicate object member name "stock"`},
		{`{"stock":null}`, "stock: a JSON null is not allowed"},
		{`{"name":null}`, "name: a JSON null is not allowed"},
		{`{"stock":"200"}`, "stock: a JSON string is not allowed"},
		{`{"stock":2.5}`, "stock: 2.5 is not allowed"},
		{`{"stock":{}}`, "stock: a JSON object is not allowed"},
		{`{"stock":9223372036854775808}`, "stock: 9223372036854775808 is not allowed"},
		{`{"stock":1} {}`, "the body: jsontext: invalid character '{' after top-level value"},
		{`{"stock":1}}`, "the body: jsontext: invalid character '}' after top-level value"},
		{`{"stock":1,}`, "the body: jsontext: invalid character ',' at start of value"},
		{`{"stock":1`, "the body: jsontext: unexpected EOF"},
		{`{"stock":`, `the body: jsontext: unexpected EOF within "/stock"`},
		{`{"stock" 1}`, "the body: jsontext: invalid character '1' after object name (expecting ':')"},
		{`stock=200`, "the body: jsontext: invalid character 's' at start of value"},
		{"{\"name\":\"\xff\"}", `the body: jsontext: invalid UTF-8 within "/name"`},
	} {
		t.Run(fmt.Sprintf("%q", c.body), func(t *testing.T) {
			var body struct {
				Stock *int64 `json:"stock"`
				Name  string `json:"name,omitempty"`
			}
			err := Read(httptest.NewRequestWithContext(t.Context(), "PUT", "/inventory", strings.NewReader(c.body)), &body)
			switch {
			case c.says == "" && (err != nil || body.Stock == nil || *body.Stock != 200):
				t.Errorf("got %v, %v; want 200", body.Stock, err)
			case c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)):
				t.Errorf("got %v; want %s", err, c.says)
			}
		})
	}
}
