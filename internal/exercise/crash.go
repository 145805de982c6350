package exercise

import (
	"bytes"
	"regexp"
	"strings"

	"lockstep/internal/language"
)

// prefixWriter keeps the first limit bytes that are written, and discards the rest. What matters of a panic is at its beginning.
type prefixWriter struct {
	text  bytes.Buffer
	limit int
}

// Write implements io.Writer.
func (b *prefixWriter) Write(p []byte) (int, error) {
	b.text.Write(p[:min(len(p), b.limit-b.text.Len())])
	return len(p), nil
}

// Patterns for a crash as Go's runtime prints it: a message, and then the stacks of the goroutines.
var (
	crashStart = regexp.MustCompile(`(?m)^(?:panic|fatal error): `)
	crashLine  = regexp.MustCompile(`(?m)^\t(\S*?([^/\s]+\.go:\d+))`)
)

// crashText returns the message of a panic or a fatal error in the output of a program, with the first line of the stack that is in dir. It
// returns "" if there is no such message.
func crashText(printed, dir string) string {
	at := crashStart.FindStringIndex(printed)
	if at == nil {
		return ""
	}
	says, stack, _ := strings.Cut(printed[at[0]:], "\n\n")
	for _, line := range crashLine.FindAllStringSubmatch(stack, -1) {
		if strings.Contains(line[1], dir+"/") {
			return strings.TrimSpace(says) + "\n\t" + line[2]
		}
	}
	return strings.TrimSpace(says)
}

// failByEnd makes o the outcome of a program that ended without a result. status is its exit status, or the signal that ended it. printed
// is its error output.
func (o *Outcome) failByEnd(status, printed, dir string, in language.Language) {
	if crash := crashText(printed, dir); crash != "" {
		o.fail(in, Panicked, crash)
		return
	}
	says := in.Say("the code ended the program (%s). It must not call os.Exit or log.Fatal: return an error instead",
		"代码退出了程序（%s）。不能调用 os.Exit 或 log.Fatal，请改为返回错误", status)
	if strings.HasPrefix(status, "signal: ") {
		says = in.Say("the program was killed from outside (%s), perhaps because it used too much memory", "程序被外部终止（%s），可能是内存用得太多", status)
	}
	if printed = strings.TrimSpace(printed); printed != "" {
		says += in.Say(". It printed:\n\n%s", "。它打印了：\n\n%s", printed)
	}
	o.fail(in, OtherTrouble, says)
}
