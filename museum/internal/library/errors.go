package library

import "errors"

var (
	errTaken       = errors.New("the lock is another's")
	errNotReleased = errors.New("the lock was not released")
)

// orNot makes an error of a release that was without effect.
func orNot(released bool, err error) error {
	if err == nil && !released {
		return errNotReleased
	}
	return err
}
