// Package stage is a room: real flaws on real processes, made to happen on demand.
//
// In it: lab (a flaw, its fault and its proof; the matrix of every flaw and every lock), soak (faults for hours, and a judge), replica,
// redisproxy and redisserver (the faults' tools).
// May import: cluster, shop, watch, explore, service, dao and the locks.
// Begin with: lab.
package stage
