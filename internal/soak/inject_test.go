package soak

import (
	"errors"
	"testing"
	"testing/synctest"
)

// A repeated fault must hit something at least once.
func TestRepeatFailsWithoutHit(t *testing.T) {
	failure := errors.New("a failure")
	for _, test := range []struct {
		name    string
		hits    []int64 // try by try
		err     error
		wantErr error
	}{
		{name: "it hits once", hits: []int64{0, 2, 0}},
		{name: "it hits nothing", hits: []int64{0, 0, 0}, wantErr: errNothingHit},
		{name: "it fails", hits: []int64{1}, err: failure, wantErr: failure},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				f := Injected{Fault: Fault{Duration: 3*repeatInterval + repeatInterval/2}}
				err := f.repeat(t.Context(), func() (int64, error) {
					attempts++
					return test.hits[attempts-1], test.err
				})
				if !errors.Is(err, test.wantErr) || attempts != len(test.hits) {
					t.Errorf("got %v after %d attempts, want %v after %d", err, attempts, test.wantErr, len(test.hits))
				}
			})
		})
	}
}
