// Package internal holds the text of the locks, for those who show it. The packages below know nothing of this.
package internal

import "embed"

// Sources are the Go files of the steps and of the contrasts, by package.
//
//go:embed lockv*/*.go lock/redlock/*.go lock/contrast/*.go
var Sources embed.FS
