package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/language"
)

// Budget is the number of times that each fault may happen in one schedule, by Fault. The zero Budget allows none.
type Budget [faultCount]int

// MaxTimes is the largest number of times that a budget allows for a fault. No search comes near it.
const MaxTimes = 100

// Once returns the budget in which f may happen once, and no other fault.
func Once(f Fault) (b Budget) {
	b[f] = 1
	return b
}

// String formats a budget as "expiry=1,crash=1", and an empty one as "".
func (b Budget) String() string {
	var parts []string
	for _, row := range All() {
		if times := b[row.ID]; times > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", row.Name, times))
		}
	}
	return strings.Join(parts, ",")
}

// Map returns how many times each fault may happen, by its name, zeros included.
func (b Budget) Map() map[string]int {
	times := map[string]int{}
	for _, row := range All() {
		times[row.Name] = b[row.ID]
	}
	return times
}

// Max returns the larger of two budgets, fault by fault.
func (b Budget) Max(other Budget) Budget {
	for f, times := range other {
		b[f] = max(b[f], times)
	}
	return b
}

// HasNodeFaults reports whether the budget allows a fault of one of several masters.
func (b Budget) HasNodeFaults() bool {
	return b[NodeCrash] > 0 || b[NodeHang] > 0 || b[NodeRestart] > 0
}

// Check returns an error if a number of times is not allowed.
func (b Budget) Check() error {
	for f, times := range b {
		if times < 0 || times > MaxTimes {
			kind := Fault(f) //nolint:gosec // fits: few values
			return language.Translate(fmt.Errorf("faults: %v=%d; it takes 0 to %d times", kind, times, MaxTimes),
				"故障 %v 不能出 %d 次：取值 0 到 %d", kind, times, MaxTimes)
		}
	}
	return nil
}

// Parse parses the result of String. Only faults with these names are allowed.
func Parse(text string, names []string) (b Budget, _ error) {
	if text == "" {
		return b, nil
	}
	seen := map[Fault]bool{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		name, number, _ := strings.Cut(part, "=")
		times, err := strconv.Atoi(number)
		if err != nil || times < 0 {
			return Budget{}, language.Translate(fmt.Errorf("faults: %q; it takes NAME=TIMES, as in %s=1,%v=1", part, names[0], Crash),
				"故障“%s”写法不对；写法是 名字=次数，如 %s=1,%v=1", part, names[0], Crash)
		}
		f := ByName(name)
		if !slices.Contains(names, name) {
			return Budget{}, language.Translate(fmt.Errorf("faults: there is no %q; there are %s", name, strings.Join(names, ", ")),
				"没有“%s”这种故障；可选：%s", name, strings.Join(names, "、"))
		}
		if seen[f] {
			return Budget{}, language.Translate(fmt.Errorf("faults: %s is given twice", name), "故障 %s 写了两次", name)
		}
		seen[f], b[f] = true, times
	}
	return b, nil
}
