//go:build !unix

package cluster

import "os"

func stopProcess(*os.Process) error     { return errCannotPause }
func continueProcess(*os.Process) error { return errCannotPause }
