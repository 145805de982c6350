package load

import "fmt"

// spareFiles is how many files a process needs in addition to those of its buyers: its own, and, if the server is in it, both ends of the
// connections to the embedded Redis.
const spareFiles = 200

// CheckFiles fails if this process may not open as many files as so many buyers need: one each, and one more if the server is ours.
func CheckFiles(buyers int, ownServer bool) error {
	limit, limited := OpenFileLimit()
	need := buyers
	if ownServer {
		need *= 2
	}
	if need += spareFiles; !limited || need <= limit {
		return nil
	}
	return fmt.Errorf("-c %d is not allowed: so many buyers need %d open files at once, and this process may have %d: "+
		"raise the limit first (ulimit -n %d), or let fewer come at once", buyers, need, limit, need)
}
