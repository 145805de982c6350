// Command lockstep sells an inventory over HTTP under a Redis lock of your choice, and shows which locks hold.
package main

import (
	"context"
	"os"

	"lockstep/internal/cli"
)

func main() {
	os.Exit(cli.Program{Name: cli.Typed(os.Args[0])}.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
