package simredis

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
)

// Readable writes a reply as redis-cli does, more or less. Of several, the first error, or else that all went well.
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

var (
	scriptFailure = regexp.MustCompile(`(?m)^-ERR Error compiling script \(new function\): :(\d+): (.*?) stack traceback:.*\r$`)
	errorCode     = regexp.MustCompile(`^-[A-Z]+ `)
)

// asRedisSays returns a reply with the errors of scripts that have failed as Redis words them: miniredis takes all of them for errors of
// the compiler.
func withRedisErrors(reply []byte) []byte {
	return scriptFailure.ReplaceAllFunc(reply, func(failure []byte) []byte {
		parts := scriptFailure.FindSubmatch(failure)
		line, says := parts[1], parts[2]
		if withCode := append([]byte{'-'}, says...); errorCode.Match(withCode) {
			return fmt.Appendf(withCode, " script: on @user_script:%s.\r", line)
		}
		return fmt.Appendf(nil, "-ERR user_script:%s: %s\r", line, says)
	})
}
