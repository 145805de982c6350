package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

var (
	// names are the same in all languages: of sales, replicas, locks, labs, Redis and its commands, and what is typed.
	names = regexp.MustCompile(`\b(r\d(#\d)?|v\d+|Redis|GET|DEL|check-then-delete)\b|^.*lockstep (lab|explore) .*$|lockstep diff .*$`)
	// commands have their reply behind them, or that they are on their way.
	commandDrawn = regexp.MustCompile(`(SET|GET|DEL|EVAL|EVALSHA|MULTI|EXEC|[a-zA-Z]+\.lua)\b.*( → .*|，还没到)$`)
	word         = regexp.MustCompile(`[A-Za-z]{2,}`)
)

// What a lab prints in Chinese has nothing English but names and commands.
func TestALabSpeaksChinese(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := Run(t.Context(), strings.Fields("lab check-then-delete --lang zh"), &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for line := range strings.Lines(stdout.String()) {
		rest := names.ReplaceAllString(commandDrawn.ReplaceAllString(strings.TrimSpace(line), ""), "")
		if english := word.FindString(rest); english != "" {
			t.Errorf("%q is English: %s", english, line)
		}
	}
	if !strings.Contains(stdout.String(), "r1#1 删除了 r2#1 的锁") {
		t.Errorf("nothing is said in Chinese:\n%s", &stdout)
	}
}
