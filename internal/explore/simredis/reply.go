package simredis

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
)

// FormatReply formats a reply roughly as redis-cli does. For the replies to several commands it returns the first error, nil if the last
// reply is nil, as for a discarded transaction, and otherwise OK. It returns "?" for a single command without a reply.
func FormatReply(raw []byte, commands int) string {
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
	return RelativeTimes(text)
}

// scriptFailure matches miniredis's reply for a script that failed, with the line and the message. errorCode matches the beginning of an
// error reply.
var (
	scriptFailure = regexp.MustCompile(`(?m)^-ERR Error compiling script \(new function\): :(\d+): (.*?) stack traceback:.*\r$`)
	errorCode     = regexp.MustCompile(`^-[A-Z]+ `)
)

// withRedisErrors rewords the errors of failed scripts in a reply as Redis does, because miniredis reports all of them as compile errors.
func withRedisErrors(reply []byte) []byte {
	return scriptFailure.ReplaceAllFunc(reply, func(failure []byte) []byte {
		parts := scriptFailure.FindSubmatch(failure)
		line, message := parts[1], parts[2]
		if withCode := append([]byte{'-'}, message...); errorCode.Match(withCode) {
			return fmt.Appendf(withCode, " script: on @user_script:%s.\r", line)
		}
		return fmt.Appendf(nil, "-ERR user_script:%s: %s\r", line, message)
	})
}
