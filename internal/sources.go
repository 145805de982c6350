// Package internal holds the text of the locks, for those who show it. The packages below know nothing of this.
package internal

import "embed"

// Sources are the Go files of the steps, of the contrasts, and of what they share, and how a sale updates the stock, by package.
//
//go:embed lockv*/*.go lock/*.go lock/delex/*.go lock/quorum/*.go lock/redlock/*.go lock/contrast/*.go
//go:embed service/update.go service/optimistic.go service/segmented.go
var Sources embed.FS
