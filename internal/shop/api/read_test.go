package api

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// A body is one JSON object with the names that are known, each once, as they are spelled. What is wrong is named.
func TestReadIsStrict(t *testing.T) {
	for _, c := range []struct{ body, says string }{
		{`{"stock":200}`, ""},
		{" {\n\"stock\": 200 , \"name\":\"a\"}\n ", ""},
		{``, "the body is empty"},
		{"  \n", "the body is empty"},
		{`null`, "a JSON null is not allowed"},
		{`[]`, "a JSON array is not allowed"},
		{`5`, "a JSON number is not allowed"},
		{`true`, "a JSON bool is not allowed"},
		{`"stock"`, "a JSON string is not allowed"},
		{`{"STOCK":200}`, `"STOCK" is not allowed: it is spelled "stock"`},
		{`{"Stock":200,"stock":1}`, `"Stock" is not allowed: it is spelled "stock"`},
		{`{"nonsense":1}`, `"nonsense" is not allowed: there is name, stock`},
		{`{"":1}`, `"" is not allowed: there is name, stock`},
		{`{"stock":1,"stock":2}`, `"stock" is there twice`},
		{`{"stock":1,"\u0073tock":2}`, `"stock" is there twice`},
		{`{"stock":null}`, "stock: null is not allowed"},
		{`{"stock":"200"}`, "stock: a JSON string is not allowed"},
		{`{"stock":2.5}`, "stock: a JSON number 2.5 is not allowed"},
		{`{"stock":{}}`, "stock: a JSON object is not allowed"},
		{`{"stock":9223372036854775808}`, "stock: a JSON number 9223372036854775808 is not allowed"},
		{`{"stock":1} {}`, "there is more after the JSON object"},
		{`{"stock":1}}`, "there is more after the JSON object"},
		{`{"stock":1,}`, "the body is not JSON: invalid character '}' looking for beginning of object key string"},
		{`{"stock":1`, "the body is not JSON: unexpected EOF"},
		{`{"stock":`, "stock: the body is not JSON: unexpected EOF"},
		{`{"stock" 1}`, "stock: the body is not JSON"},
		{`stock=200`, "the body is not JSON"},
		{"{\"name\":\"\xff\"}", "the body is not UTF-8"},
	} {
		var to struct {
			Stock *int64 `json:"stock"`
			Name  string `json:"name,omitempty"`
		}
		err := Read(httptest.NewRequestWithContext(t.Context(), "PUT", "/inventory", strings.NewReader(c.body)), &to)
		switch {
		case c.says == "" && (err != nil || to.Stock == nil || *to.Stock != 200):
			t.Errorf("%s: %v, %v; want 200", c.body, to.Stock, err)
		case c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)):
			t.Errorf("%s: %v; want %s", c.body, err, c.says)
		}
	}
}
