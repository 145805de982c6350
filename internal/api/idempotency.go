package api

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// IdempotencyKeyHeader is the header of draft-ietf-httpapi-idempotency-key-header-07. ReplayedHeader marks an answer that repeats an
// earlier one; other services send it, too.
const (
	IdempotencyKeyHeader = "Idempotency-Key"
	ReplayedHeader       = "Idempotency-Replayed"
)

// maxKeyLength is the maximum length of a key in characters.
const maxKeyLength = 255

// keySyntax matches a Structured Field Item that is a String, whose parameters mean nothing here (RFC 9651, 3.3). It also matches a key
// without the quotes, as many clients send it. openapi.json contains the same pattern.
var keySyntax = regexp.MustCompile(`^(?:"((?:[ !#-\[\]-~]|\\["\\]){1,255})"` + keyParameters + `|([!#-+\--:<-\[\]-~]{1,255}))$`)

// keyParameters matches the parameters of a Structured Field Item.
const keyParameters = `(?:; *[a-z*][a-z0-9_.*-]*(?:=[!#-+\--:<-\[\]-~]+)?)*`

// keySpace is the UUID namespace for the order ids of idempotency keys.
var keySpace = uuid.MustParse("5d7c4c1e-6d3b-4b0e-9f0a-0c2c7f1d8a41")

// OrderOfKey returns the order id of a sale with this Idempotency-Key.
func OrderOfKey(key string) string { return uuid.NewSHA1(keySpace, []byte(key)).String() }

// IdempotencyKey returns the key of a request; "" if it has none. The same key may come with quotes or without. It fails with a bad request
// if the header is not one key.
func IdempotencyKey(header http.Header) (string, error) {
	values := header.Values(IdempotencyKeyHeader)
	if len(values) == 0 {
		return "", nil
	}
	parts := keySyntax.FindStringSubmatch(values[0])
	if len(values) > 1 || parts == nil {
		return "", BadRequest(fmt.Errorf("%s %s", IdempotencyKeyHeader, describeKeyFlaw(values)), fmt.Sprintf(
			`want one key of 1 to %d characters from space to ~, such as "8e03978e-40d5-43e8-bc93-6894a57f9324": a Structured Field String; `+
				`a key without spaces, commas, semicolons, quotes and backslashes needs no quotes`, maxKeyLength))
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(parts[1]) + parts[2], nil // One of the two groups is empty.
}

// describeKeyFlaw describes why the header's values are not one valid key.
func describeKeyFlaw(values []string) string {
	value := strings.Trim(values[0], `"`)
	switch {
	case len(values) > 1:
		return fmt.Sprintf("is there %d times", len(values))
	case value == "":
		return "is empty"
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return fmt.Sprintf("%.60q has a character that is not printable ASCII", values[0])
	case len(value) > maxKeyLength:
		return "is too long"
	default:
		return fmt.Sprintf("%.60q is not one key", values[0])
	}
}
