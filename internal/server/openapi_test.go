package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"lockstep/internal/api"
	"lockstep/internal/test/shoptest"
)

// openAPI holds the parts of the document that a test reads.
type openAPI struct {
	Paths map[string]map[string]operation

	schemas *jsonschema.Compiler
}

// operation is a method of a path.
type operation struct {
	ServedBy   string `json:"x-served-by"`
	Parameters []struct {
		Name, In string
		Example  any
	}
	RequestBody struct {
		Content map[string]struct{ Example any }
	}
	Responses map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]any
	}
}

const openAPIName = "openapi.json"

func readOpenAPI(t *testing.T, text []byte) openAPI {
	t.Helper()
	doc := openAPI{schemas: jsonschema.NewCompiler()}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	all, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = doc.schemas.AddResource(openAPIName, all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// request makes a request from the examples of an operation.
func (o operation) request(t *testing.T, method, base, path string, values map[string]string) *http.Request {
	t.Helper()
	query, header := url.Values{}, http.Header{}
	for _, p := range o.Parameters {
		value := fmt.Sprint(p.Example)
		if override, ok := values[p.Name]; ok {
			value = override
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "header":
			header.Set(p.Name, value)
		case value != "<nil>":
			query.Set(p.Name, value)
		}
	}
	var body io.Reader = http.NoBody
	if example := o.RequestBody.Content["application/json"].Example; example != nil {
		text, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(t.Context(), strings.ToUpper(method), base+path+"?"+query.Encode(), body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	return request
}

// check compares an answer with the document, and returns its body unless it is a stream.
func (d openAPI) check(t *testing.T, method, path string, response *http.Response) (body []byte) {
	t.Helper()
	status := strconv.Itoa(response.StatusCode)
	about := fmt.Sprintf("%s %s: %s", method, response.Request.URL, status)
	answer, documented := d.Paths[path][method].Responses[status]
	if !documented {
		text, _ := io.ReadAll(response.Body)
		t.Errorf("%s is not in the document: %s", about, text)
		return nil
	}
	kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	at := []string{"paths", path, method, "responses", status}
	if answer.Ref != "" {
		at = strings.Split(strings.TrimPrefix(answer.Ref, "#/"), "/")
	} else if _, ok := answer.Content[kind]; !ok {
		t.Errorf("%s is %s; the document says %v", about, kind, slices.Collect(maps.Keys(answer.Content)))
		return nil
	}
	if kind == "text/event-stream" {
		return nil
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("%s: %v", about, err)
	}
	if kind != "application/json" {
		return body
	}
	pointer := "#"
	for _, part := range append(at, "content", kind, "schema") {
		pointer += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
	}
	schema, err := d.schemas.Compile(openAPIName + pointer)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("%s: %v: %s", about, err, body)
	}
	return body
}

// do sends a request, and compares the answer with the document.
func (d openAPI) do(t *testing.T, method, path, base string, values map[string]string, broken bool) []byte {
	t.Helper()
	request := d.Paths[path][method].request(t, method, base, path, values)
	if broken {
		request.Body, request.ContentLength = io.NopCloser(strings.NewReader(`{"nonsense":1}`)), -1
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body := d.check(t, method, path, response)
	if broken && response.StatusCode != http.StatusBadRequest {
		t.Errorf("%s %s takes nonsense: %s", method, path, response.Status)
	}
	return body
}

// Every answer of a server matches its OpenAPI document, whether the request is an example of the document, nonsense, or one about a sale.
func TestAnswersMatchTheOpenAPIDocument(t *testing.T) {
	base := shoptest.Start(t, "--inventory.initial", "1").URL()
	doc := readOpenAPI(t, api.OpenAPI())
	var sold, burst map[string]any
	if err := json.Unmarshal(doc.do(t, "post", "/inventory/sale", base, nil, false), &sold); err != nil {
		t.Fatal(err)
	}
	doc.do(t, "post", "/inventory/sale", base, nil, false) // sold out
	doc.do(t, "get", "/orders/{id}", base, map[string]string{"id": fmt.Sprint(sold["order_id"])}, false)
	if err := json.Unmarshal(doc.do(t, "post", "/bursts", base, nil, false), &burst); err != nil {
		t.Fatal(err)
	}
	one := map[string]string{"id": fmt.Sprint(burst["id"])}
	doc.do(t, "get", "/bursts/{id}", base, one, false)
	doc.do(t, "delete", "/bursts/{id}", base, one, false)
	doc.do(t, "post", "/nodes/{node}", base, map[string]string{"node": "9"}, false)
	doc.do(t, "get", "/seat/state", base, map[string]string{"do": "A:DEL"}, false)
	doc.do(t, "get", "/seat/hint", base, map[string]string{"do": "A:DEL"}, false)
	doc.do(t, "get", "/seat/state", base, map[string]string{"in": "--nonsense"}, false)
	doc.do(t, "get", "/seat/file", base, map[string]string{"do": "A:DEL"}, false)
	doc.do(t, "get", "/seat/steps/{pair}", base, map[string]string{"pair": "v3-v10"}, false)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			operation := doc.Paths[path][method]
			if operation.ServedBy == "front" || path == "/bursts" {
				continue
			}
			doc.do(t, method, path, base, nil, false)
			if operation.RequestBody.Content != nil {
				doc.do(t, method, path, base, nil, true)
			}
		}
	}
	doc.do(t, "delete", "/lock", base, nil, false)
}
