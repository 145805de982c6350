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
	Name   string // for commands and tables
	Module string // its Go module; "" if it is one of lockstep's own
	PortOf string // what it is a port of; "" if it is the library itself
	Usage  string // how the museum uses it
	Says   string // what it promises, in its own words
	Source string // where it says so
	Faults string // of a port: those that its issue is about; it is put into no other scenario
	Key    string // of its lock in Redis
	Nodes  int    // that its lock is on
	Wakes  bool   // it is told when to try again, and does not ask by itself
	Shares bool   // the calls of a process share a lock; it is put into no other scenario
	Open   func(locktest.Process) (locktest.Lock, error)
}

// All lists them.
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
