//go:build !js

package dao

import "github.com/alicebob/miniredis/v2"

// yieldToBrowser does nothing: only on wasm do goroutines share their one thread with the browser.
func yieldToBrowser(*miniredis.Miniredis) {}
