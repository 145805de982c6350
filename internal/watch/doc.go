// Package watch is a room: what the locks of a running shop did, seen from outside.
//
// In it: witness (the account, from recorded commands and events) and live (the account as a page shows it while it grows).
// May import: shop/api, shop/load, shop/route, shop/sse, service, dao, the locks, trace, web.
// Begin with: witness.
package watch
