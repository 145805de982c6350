// Package tab runs the program's HTTP handlers in web workers of a browser's tab: Serve answers the page's messages, ForwardToWorker
// connects workers with each other, and Workers are replicas in workers of their own. The page's half is static/tab/worker.js, which starts
// a program, and static/tab/tab.js, which sends the requests.
package tab
