package simredis

import "strings"

// Command is a command, or several, as sent at once. There is one for each text that was ever sent, so that two can be compared, and what
// has to be known of the text is looked for once.
type Command struct {
	text    string
	watches bool // or ends a transaction
	timed   bool // its answer may depend on the time of day
}

// Command gives the command that was sent.
func (m *Memory) Command(sent []byte) *Command {
	if known, ok := m.commands[string(sent)]; ok {
		return known
	}
	c := &Command{text: string(sent)}
	upper := strings.ToUpper(c.text)
	c.watches = strings.Contains(upper, "WATCH")
	for _, word := range []string{"TIME", "EXAT", "PXAT", "EXPIREAT"} {
		c.timed = c.timed || strings.Contains(upper, word)
	}
	m.commands[c.text] = c
	return c
}
