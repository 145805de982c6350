package engine

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// ShareMemory sets the values that the tasks of p share, such as its lock: a waiter that sends no commands can only observe these.
func (p *Process) ShareMemory(values any) { p.sharedMemory = reflect.ValueOf(values) }

// memoryHash returns a hash of all that p's shared values hold or point to, without the clients, clocks, notifiers and contexts that the
// engine has given them. If ok is false, they hold something that cannot be read, such as the variables of a closure.
func (p *Process) memoryHash() (hash uint64, ok bool) {
	m := memoryHasher{seed: p.x.Hasher.seeds[0], visited: map[reference]bool{}}
	m.add(p.sharedMemory)
	return m.sum(), !m.isOpaque
}

// memoryHasher hashes values and what they point to.
type memoryHasher struct {
	seed     maphash.Seed
	visited  map[reference]bool // references that were followed, since values may form a cycle
	buffer   []byte             // text of the values added so far
	isOpaque bool               // some value cannot be read
}

// reference is a pointer, a map or a slice.
type reference struct {
	kind    reflect.Type // type of the reference
	address uintptr
	length  int // number of elements; 0: a pointer
}

// environmentTypes returns the interfaces of what the engine gives to a lock. Their values are not the lock's memory.
func environmentTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[redis.Cmdable](), reflect.TypeFor[lock.Clock](), reflect.TypeFor[lock.Notifier](), reflect.TypeFor[context.Context](),
	}
}

// isEnvironment reports whether the type of v is one of environmentTypes, or implements one.
func isEnvironment(v reflect.Value) bool {
	return slices.ContainsFunc(environmentTypes(), v.Type().Implements)
}

// sum returns the hash of the values that were added.
func (m *memoryHasher) sum() uint64 { return maphash.Bytes(m.seed, m.buffer) }

// add adds a value, and all that it holds or points to.
func (m *memoryHasher) add(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		m.isOpaque = true
	case reflect.Interface:
		if !v.IsNil() && !isEnvironment(v) {
			m.add(v.Elem())
		}
	case reflect.Pointer:
		if m.addReference(v, 0) {
			m.add(v.Elem())
		}
	case reflect.Struct:
		m.addFields(v)
	case reflect.Slice:
		if m.addReference(v, v.Len()) {
			m.addElements(v)
		}
	case reflect.Array:
		m.addElements(v)
	case reflect.Map:
		if m.addReference(v, v.Len()) {
			m.addEntries(v)
		}
	case reflect.Chan:
		m.isOpaque = m.isOpaque || !v.IsNil() && v.Type().Elem().Size() > 0
		m.addReference(v, v.Len())
	case reflect.Func, reflect.UnsafePointer:
		m.isOpaque = m.isOpaque || !v.IsNil()
	default:
		m.buffer = fmt.Append(m.buffer, v, ";")
	}
}

// addReference adds the address and length of a reference, and reports whether it is to be followed.
func (m *memoryHasher) addReference(v reflect.Value, length int) (isNew bool) {
	r := reference{v.Type(), v.Pointer(), length}
	m.buffer = fmt.Append(m.buffer, r.address, " ", length, ";")
	isNew = r.address != 0 && !m.visited[r]
	m.visited[r] = true
	return isNew
}

// addFields adds the fields of a struct. The functions of lock.Options are the engine's.
func (m *memoryHasher) addFields(v reflect.Value) {
	for i := range v.NumField() {
		if field := v.Field(i); field.Kind() != reflect.Func || v.Type() != reflect.TypeFor[lock.Options]() {
			m.add(field)
		}
	}
}

// addElements adds the elements of a slice or an array.
func (m *memoryHasher) addElements(v reflect.Value) {
	for i := range v.Len() {
		m.add(v.Index(i))
	}
}

// addEntries adds the entries of a map, whose order does not count.
func (m *memoryHasher) addEntries(v reflect.Value) {
	var entries uint64
	for each := v.MapRange(); each.Next(); {
		entry := memoryHasher{seed: m.seed, visited: maps.Clone(m.visited)}
		entry.add(each.Key())
		entry.add(each.Value())
		entries += entry.sum()
		m.isOpaque = m.isOpaque || entry.isOpaque
	}
	m.buffer = fmt.Append(m.buffer, entries, ";")
}
