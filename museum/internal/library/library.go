// Package library has the libraries that the museum shows, each as a program uses it. None of them is changed in any way.
package library

import (
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/proc"

	"lockstep/locktest"
)

// What all of them are asked for.
const (
	Key = "lock"
	// Poll is the pause between two attempts of a library that waits by asking again, where it can be chosen.
	Poll = 100 * time.Millisecond
)

// Library is a lock library, and a way to use it.
type Library struct {
	Name   string // name in commands and tables
	Module string // Go module; "": a lock of lockstep
	PortOf string // library that it is a port of; "": the library itself
	Usage  string // use by the museum
	Says   string // promise in the words of the library
	Source string // address of that promise
	Faults string // faults of the issue that a port shows; a port is explored in no other scenario
	Key    string // key of its lock in Redis
	Nodes  int    // number of Redis nodes that its lock uses
	Wakes  bool   // whether a waiter sleeps until it is notified, and does not poll
	Shares bool   // whether the calls of a process share a lock; it is explored in no other scenario
	Open   func(locktest.Process) (locktest.Lock, error)
}

// All returns the libraries of the museum.
func All() []Library {
	return []Library{
		Redislock(), RedislockResending(), RedislockWaiting(),
		Redsync(1, false), Redsync(1, true), Redsync(3, false),
		Rueidislock(false), Rueidislock(true),
		GoZero(), GoZeroShared(),
		Asynq(),
		RedissonResending(), RedissonInterrupted(), RedisPy(),
		Own("v4"), Own("v6"), Own("v10"), OwnOnNodes("redlock", 3),
	}
}

// Names lists their names.
func Names() (names []string) {
	for _, l := range All() {
		names = append(names, l.Name)
	}
	return names
}

// Quiet keeps the libraries from logging what is found, or how busy the machine is, and go-zero from ending the program seconds after a
// signal.
func Quiet() {
	logging.Disable()
	logx.Disable()
	proc.Setup(proc.ShutdownConf{WrapUpTime: 1, WaitTime: 1})
}

// Find gives the library of that name.
func Find(name string) (Library, error) {
	for _, l := range All() {
		if l.Name == name {
			return l, nil
		}
	}
	return Library{}, fmt.Errorf("there is no library %q; there are %s", name, strings.Join(Names(), ", "))
}
