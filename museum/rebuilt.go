package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"slices"

	"lockstep/museum/internal/exhibit"
)

// rebuilt runs the museum once more, built with the versions of another go.mod.
func rebuilt(ctx context.Context, modfile string, arguments []string, stdout, stderr io.Writer) error {
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{"run", "-modfile", modfile, "."}, arguments)...)
	command.Stdout, command.Stderr = stdout, stderr
	return command.Run()
}

// shownBy gives what the museum shows that is built with another go.mod.
func shownBy(ctx context.Context, modfile string, arguments []string, stderr io.Writer) (shown exhibit.Findings, err error) {
	var out bytes.Buffer
	if err := rebuilt(ctx, modfile, append(arguments, "-json"), &out, stderr); err != nil {
		return shown, err
	}
	return shown, json.Unmarshal(out.Bytes(), &shown)
}
