package simredis

import "strings"

// Command is a command, or several, as sent at once. There is one for each text that was ever sent, so that two can be compared, and what
// has to be known of the text is looked for once.
type Command struct {
	text    string
	watches bool // or ends a transaction
	timed   bool // its answer may depend on the time of day
	plain   bool // it is one, and does the same on each connection
	script  bool // it names one that the server has loaded

	parsed    [][]string // each command's words
	malformed error      // or why there are none
}

// Text returns what was sent.
func (c *Command) Text() string { return c.text }

// command gives the command that was sent.
func (m *Memory) command(sent []byte) *Command {
	if known, ok := m.commands[string(sent)]; ok {
		return known
	}
	c := &Command{text: string(sent)}
	upper := strings.ToUpper(c.text)
	c.watches = strings.Contains(upper, "WATCH")
	c.timed, c.script = timed(upper), strings.Contains(upper, "EVALSHA")
	c.parsed, c.malformed = parse(c.text)
	c.plain = c.malformed == nil && len(c.parsed) == 1 && !c.watches && !strings.EqualFold(c.parsed[0][0], "EXEC")
	m.commands[c.text] = c
	return c
}

// timed reports whether a text in capitals has a word in it that asks for the time of day.
func timed(upper string) bool {
	return strings.Contains(upper, "TIME") || strings.Contains(upper, "EXAT") || strings.Contains(upper, "PXAT") ||
		strings.Contains(upper, "EXPIREAT")
}
