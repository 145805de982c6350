package api

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Read reads a request's body, one JSON object, into the struct that to points to. It accepts the names of fields only as they are tagged,
// each once, and no null. The old encoding/json would accept Stock for stock, use the last of two values, and ignore null.
func Read(r *http.Request, to any) error {
	if r.ContentLength == 0 {
		return errors.New("the body is empty")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fmt.Errorf("the body has the Content-Encoding %.40q: send it without one", encoding)
	}
	err := json.UnmarshalRead(r.Body, to, json.RejectUnknownMembers(true), json.WithUnmarshalers(
		json.JoinUnmarshalers(json.UnmarshalFromFunc(refuseNull), json.UnmarshalFunc(readWhole))))
	var wrong *json.SemanticError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return fmt.Errorf("the body: %w", err)
	case errors.Is(wrong, json.ErrUnknownName):
		return fmt.Errorf("%.80q is not allowed", wrong.JSONPointer.LastToken())
	}
	kind := strings.NewReplacer("[", "array", "{", "object").Replace(wrong.JSONKind.String())
	value := cmp.Or(string(wrong.JSONValue), "a JSON "+kind)
	return fmt.Errorf("%s: %.80s is not allowed", cmp.Or(wrong.JSONPointer.LastToken(), "the body"), value)
}

// maxWholeNumber is 2^53: float64 represents every smaller whole number exactly.
const maxWholeNumber = 1 << 53

// readWhole reads a whole number in any JSON form: 200.0 and 2e2 are the same as 200.
func readWhole(text []byte, to *int64) error {
	number, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil: // a text, or an object
		return json.SkipFunc
	case number != math.Trunc(number) || math.Abs(number) >= maxWholeNumber:
		return &json.SemanticError{JSONKind: jsontext.Value(text).Kind(), JSONValue: text}
	}
	*to = int64(number)
	return nil
}

// refuseNull fails for null. It leaves every other value to the default decoding.
func refuseNull(from *jsontext.Decoder, _ any) error {
	if kind := from.PeekKind(); kind == jsontext.Null.Kind() {
		return &json.SemanticError{JSONKind: kind}
	}
	return json.SkipFunc
}
