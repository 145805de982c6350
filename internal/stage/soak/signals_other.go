//go:build !unix

package soak

const canStop = false

func kill(int) error { return ErrNoSignals }
func stop(int) error { return ErrNoSignals }
func goOn(int) error { return ErrNoSignals }
