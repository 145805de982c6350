package soak

import (
	"errors"
	"testing"
	"testing/synctest"
)

// A fault that is repeated must hit something once, and its failure is not a miss.
func TestRepeat(t *testing.T) {
	failure := errors.New("a failure")
	for _, c := range []struct {
		what string
		hits []int64 // try by try
		err  error
		want error
	}{
		{"it hits once", []int64{0, 2, 0}, nil, nil},
		{"it hits nothing", []int64{0, 0, 0}, nil, errNothingHit},
		{"it fails", []int64{1}, failure, failure},
	} {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			f := Injected{Fault: Fault{For: 3*repeatInterval + repeatInterval/2}}
			err := f.repeat(t.Context(), func() (int64, error) {
				attempts++
				return c.hits[attempts-1], c.err
			})
			if !errors.Is(err, c.want) || attempts != len(c.hits) {
				t.Errorf("%s: %v after %d attempts; want %v after %d", c.what, err, attempts, c.want, len(c.hits))
			}
		})
	}
}
