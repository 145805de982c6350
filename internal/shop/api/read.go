package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Read reads a request's body, one JSON object, into the struct that to points to. It takes the names of its fields as they are
// tagged, each once, and no null: encoding/json also takes Stock for stock, the last of two, and null for nothing.
func Read(r *http.Request, to any) error {
	text, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return err
	case len(bytes.TrimSpace(text)) == 0:
		return errors.New("the body is empty")
	case !utf8.Valid(text):
		return errors.New("the body is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if first, err := decoder.Token(); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	} else if first != json.Delim('{') {
		return fmt.Errorf("a JSON %s is not allowed", kindOf(first))
	}
	fields := fieldsOf(to)
	for seen := map[string]bool{}; decoder.More(); {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("the body is not JSON: %w", err)
		}
		name, _ := token.(string)
		if seen[name] {
			return fmt.Errorf("%.80q is there twice", name)
		}
		seen[name] = true
		field, known := fields[name]
		if !known {
			return unknownName(name, fields)
		}
		if err := readField(decoder, name, field); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("the body is not JSON: %w", noEOF(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the JSON object")
	}
	return nil
}

// readField reads the value of a name.
func readField(decoder *json.Decoder, name string, into any) error {
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		return fmt.Errorf("%s: the body is not JSON: %w", name, noEOF(err))
	}
	if string(value) == "null" {
		return fmt.Errorf("%s: null is not allowed", name)
	}
	err := json.Unmarshal(value, into)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		return fmt.Errorf("%s: a JSON %s is not allowed", name, mistyped.Value)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// fieldsOf returns pointers to the fields of the struct that to points to, by their names in JSON.
func fieldsOf(to any) map[string]any {
	fields, value := map[string]any{}, reflect.ValueOf(to).Elem()
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = value.Field(i).Addr().Interface()
	}
	return fields
}

// unknownName says which names there are, and which was perhaps meant.
func unknownName(name string, fields map[string]any) error {
	var names []string
	for known := range fields {
		if strings.EqualFold(known, name) {
			return fmt.Errorf("%.80q is not allowed: it is spelled %q", name, known)
		}
		names = append(names, known)
	}
	slices.Sort(names)
	return fmt.Errorf("%.80q is not allowed: there is %s", name, strings.Join(names, ", "))
}

// kindOf names the kind of a JSON value by its first token.
func kindOf(token json.Token) string {
	switch token.(type) {
	case json.Delim:
		return "array"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "bool"
	default:
		return "null"
	}
}

// noEOF says of an end what it means within a body.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
