package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"lockstep/internal/test/suite"
)

// A browser runs the explorer and the seat as WebAssembly, and they say there what they say here.
func TestTheSameInWebAssembly(t *testing.T) {
	suite.Needs(t, "node")
	suite.LongOnly(t, "to build for another machine takes long")
	here := filepath.Join(t.TempDir(), "outcomes.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", here, ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	// a stack as large as that of Go's own tests
	node := exec.CommandContext(t.Context(), "node", "--stack-size=8192",
		filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"), here)
	node.Env = []string{"PATH=" + os.Getenv("PATH")} // there is little room for an environment
	got, err := node.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}

	var want bytes.Buffer
	if err := outcomes(t.Context(), &want); err != nil {
		t.Fatal(err)
	}
	if diff := udiff.Unified("native", "wasm", want.String(), string(got)); diff != "" {
		t.Error(diff)
	}
}
