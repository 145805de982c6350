package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Read reads a request's body, one JSON object, into the struct that to points to. It takes the names of its fields as they are
// tagged, each once, and no null: encoding/json also takes Stock for stock, the last of two, and null for nothing.
func Read(r *http.Request, to any) error {
	if r.ContentLength == 0 {
		return errors.New("the body is empty")
	}
	err := json.UnmarshalRead(r.Body, to, json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))
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

// refuseNull fails for null, and leaves all else to the type of what is read.
func refuseNull(from *jsontext.Decoder, _ any) error {
	if kind := from.PeekKind(); kind == jsontext.Null.Kind() {
		return &json.SemanticError{JSONKind: kind}
	}
	return json.SkipFunc
}
