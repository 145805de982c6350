//go:build !linux && !darwin && !windows

package doctor

import "errors"

// FreeBytes cannot be told here.
func FreeBytes(string) (free uint64, err error) { return 0, errors.ErrUnsupported }
