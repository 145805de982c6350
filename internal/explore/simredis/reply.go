package simredis

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
)

// Readable writes a reply as redis-cli does, more or less. Of several, the first error, or else that all went well.
func Readable(raw []byte, commands int) string {
	text := "?"
	for r := bufio.NewReader(bytes.NewReader(raw)); ; {
		message, err := proto.Read(r)
		if err != nil {
			break
		}
		if strings.HasPrefix(message, "-") {
			return "error " + strings.TrimSpace(message[1:])
		}
		switch value, err := proto.Parse(message); {
		case err != nil || strings.HasPrefix(message, "$-1") || strings.HasPrefix(message, "*-1"):
			text = "nil"
		default:
			text = fmt.Sprint(value)
		}
	}
	if commands > 1 && text != "nil" {
		return "OK"
	}
	return Relative(text)
}
