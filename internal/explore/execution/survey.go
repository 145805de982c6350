package execution

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// Survey looks for what code under test does behind the explorer's back: go statements, and calls of the real time. It looks at the
// functions that are at work when the code asks for anything, and at those that they call. It reads the program itself, so it needs no
// source. It does not follow a call by an interface or by a function value. What it misses are therefore methods and closures that are
// reached in no other way, and that neither wait nor send a command.
type Survey struct {
	mu      sync.Mutex        // goroutines of the code's own may ask, too, until they are refused
	seen    map[uintptr]error // functions, by where they begin, and calls, by where they return: what is wrong with each
	methods reflect.Type      // whose methods were looked at last
	calls   int
	refuses bool // something
}

// How many times the code asks until it is looked at rarely, and how rarely.
const (
	surveyed       = 300
	surveyedRarely = 97
)

// refused gives why a function may not be called, nil if it may.
func refused(name string) error {
	switch name {
	case "time.Now", "time.Since", "time.Until":
		return fmt.Errorf("%w: it calls %s", ErrUnrepeatable, name)
	case "time.runtimeNow", "time.runtimeNano": // in one of these
		return fmt.Errorf("%w: it calls time.Now", ErrUnrepeatable)
	case "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker", "context.AfterFunc":
		return fmt.Errorf("%w: it calls %s", ErrBlind, name)
	case "runtime.newproc":
		return fmt.Errorf("%w: it starts a goroutine of its own", ErrBlind)
	default:
		return nil
	}
}

// look looks at the functions that are at work, and gives the first call that is refused.
func (s *Survey) look() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; !s.refuses && s.calls > surveyed && s.calls%surveyedRarely != 0 {
		return nil
	}
	var callers [64]uintptr
	for _, pc := range callers[:runtime.Callers(3, callers[:])] {
		err, known := s.seen[pc]
		if !known {
			err = s.scan(runtime.FuncForPC(pc - 1).Entry())
			s.seen[pc], s.refuses = err, s.refuses || err != nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Methods looks at those of a lock before any of them runs. It names each, or the linker would keep all methods of the whole program.
func (s *Survey) Methods(of any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := reflect.TypeOf(of)
	if t == s.methods && !s.refuses {
		return nil
	}
	s.methods = t
	lock, _ := t.MethodByName("Lock")
	try, _ := t.MethodByName("TryLock")
	for _, method := range [...]reflect.Method{lock, try} {
		if !method.Func.IsValid() {
			continue // no lock at all
		}
		if err := s.scan(method.Func.Pointer()); err != nil {
			s.refuses = true
			return err
		}
	}
	return nil
}

// scan looks at a function and at those that it calls.
func (s *Survey) scan(function uintptr) error {
	if err, known := s.seen[function]; known {
		return err
	}
	if s.seen == nil {
		s.seen = map[uintptr]error{}
	}
	s.seen[function] = nil // it may call itself
	name := runtime.FuncForPC(function).Name()
	if inLibrary(name) || notUnderTest(name) || strings.HasPrefix(name, "lockstep/internal/service.") { // which only logs by a goroutine
		return nil
	}
	var errs []error
	calls(function, func(from, to uintptr) {
		callee := runtime.FuncForPC(to)
		if callee == nil || callee.Entry() != to {
			return
		}
		if why := refused(callee.Name()); why != nil {
			file, line := runtime.FuncForPC(from).FileLine(from)
			errs = append(errs, fmt.Errorf("%w (%s:%d)", why, filepath.Base(file), line))
			return
		}
		errs = append(errs, s.scan(to))
	})
	s.seen[function] = cmp.Or(errs...)
	return s.seen[function]
}
