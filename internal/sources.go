// Package internal embeds the source of the locks, for display.
package internal

import "embed"

// Sources holds the Go files of the steps, of the contrasts and of their common parts, and those that update the stock in a sale.
//
//go:embed lockv*/*.go lock/*.go lock/delex/*.go lock/quorum/*.go lock/redlock/*.go lock/contrast/*.go
//go:embed service/update.go service/optimistic.go service/segmented.go
var Sources embed.FS
