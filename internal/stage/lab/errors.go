package lab

import "errors"

// What can go wrong, to be matched with errors.Is.
var (
	ErrUnknown = errors.New("there is no such lab")
	ErrNotFor  = errors.New("the lab is not for this lock")
	// ErrNoRedis means that there is no redis-server on this machine.
	ErrNoRedis = errors.New("redis-server is not installed")
	// ErrNoSignals means that a process cannot be stopped on this system.
	ErrNoSignals = errors.New("this lab stops a process, which only Unix can")
	errTooLong   = errors.New("it did not happen in time")
)
