// Package shop is a room: the shop as a program, over HTTP. The sale itself is internal/service, and what it keeps is internal/dao.
//
// In it: api (HTTP), answer (a value or an error, written), config (viper), cluster (several processes behind one front), load (a burst of
// buyers), job (a job that may run once), metrics (Prometheus).
// May import: service, dao and the locks. Of internal/watch, cluster alone.
// Begin with: api.
package shop
