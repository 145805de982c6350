package variants_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/variants"
)

// bounds are more than any of the variants needs.
func bounds() explore.Bounds {
	return explore.Bounds{Schedules: 20_000, Memory: 1 << 30, Time: 20 * time.Second, Workers: 1}
}

// answer is what the explorer says of a variant, in short.
func answer(ctx context.Context, v variants.Variant, bounds explore.Bounds) (short string, result explore.Result) {
	var goal explore.Goal
	if v.Shows != "" {
		goal.Anomalies = []explore.Anomaly{v.Shows}
	}
	result, err := explore.Explore(ctx, v.Lock, v.Scenario, goal, bounds)
	switch {
	case errors.Is(err, explore.ErrBlind):
		return "blind", result
	case errors.Is(err, explore.ErrUnrepeatable):
		return "unrepeatable", result
	case err != nil:
		return "error: " + err.Error(), result
	case len(result.Found) > 0:
		return fmt.Sprintf("%s in %d steps", result.Found[0].Anomaly, result.Found[0].Length), result
	default:
		return string(result.Verdict()), result
	}
}

// fits reports whether an answer is the one that a variant deserves.
func fits(v variants.Variant, answer string) bool {
	switch {
	case v.Shows == "":
		return answer == string(explore.Holds)
	case v.Steps == 0:
		return strings.HasPrefix(answer, string(v.Shows)+" in ")
	default:
		return answer == fmt.Sprintf("%s in %d steps", v.Shows, v.Steps)
	}
}

func TestBroken(t *testing.T) { judged(t, variants.Broken()) }

func TestRight(t *testing.T) { judged(t, variants.Right()) }

func judged(t *testing.T, all []variants.Variant) {
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			said, result := answer(t.Context(), v, bounds())
			t.Logf("%s after %d schedules in %.2f s: %s", said, result.Schedules, result.Seconds, schedule(result))
			switch {
			case v.Gap.Today == "" && !fits(v, said):
				t.Errorf("%s; want %s in %d steps", said, v.Shows, v.Steps)
			case v.Gap.Today != "" && fits(v, said):
				t.Errorf("%s, as it should be: the gap is closed, remove it", said)
			case v.Gap.Today != "" && said != v.Gap.Today:
				t.Errorf("%s; the gap says that today it is %s", said, v.Gap.Today)
			}
		})
	}
}

func schedule(result explore.Result) string {
	if len(result.Found) == 0 {
		return result.Bound
	}
	return result.Found[0].Schedule
}
