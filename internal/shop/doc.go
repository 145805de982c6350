// Package shop is a room: the shop as a program, over HTTP. The sale itself is internal/service, and what it keeps is internal/dao.
//
// In it: api (HTTP), route (the table of routes), answer (a value or an error, written), sse (streams of events),
// config (viper), load (a burst of buyers), metrics (Prometheus).
// May import: service, dao and the locks.
// Begin with: api.
package shop
