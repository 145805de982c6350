// Package tab lets a handler answer what a page asks a worker of its own, in a browser's tab. The other half is static/tab/worker.js, which
// starts the program, and static/tab/tab.js, which asks.
package tab
