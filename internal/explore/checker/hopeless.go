package checker

import "slices"

// rounds is how often each waiter asks in vain before it is given up.
const rounds = 100

// hopeless reports whether waiters that ask in vain, and are all that is left, would go on asking: none gives up, or does something else,
// after it has asked so often.
func (c *Checker) hopeless() bool {
	x, end := c.futures.Again()
	defer end()
	for range rounds {
		for _, t := range slices.Clone(x.Transitions()) {
			x.Apply(t)
			if x.Transitions(); !x.Quiet() {
				return false
			}
		}
	}
	return x.Err() == nil
}
