package pack_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/learn/pack"
)

// write puts files into a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// unpacked gives the files of an archive, and what is in them.
func unpacked(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	zipped, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for reader := tar.NewReader(zipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(text)
	}
}

// The archive has the sources, the modules as a proxy serves them, and the scripts that point Go there; and nothing is left behind.
func TestArchive(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module lockstep\n", "docs/a.md": "text", "modules/old.zip": "of another archive"})
	var asked []string
	run := func(_ context.Context, env []string, _ string, args ...string) (string, error) {
		if asked = append(asked, env...); slices.Contains(args, "env") {
			return "/home/a b/mod\nhttps://proxy.example\n", nil
		}
		cache := strings.TrimPrefix(env[0], "GOMODCACHE=")
		write(t, cache, map[string]string{
			"cache/download/x/@v/v1.zip": "zip", "cache/download/x/@v/v1.lock": "", "cache/download/sumdb/y": "sum", "x@v1/x.go": "package x",
		})
		if slices.Contains(args, "bench") {
			write(t, cache, map[string]string{"cache/download/of-bench/@v/v1.zip": "zip"})
		}
		return "", nil
	}
	class := pack.Class{Dir: dir, Run: run}
	name := filepath.Join(dir, "class.tar.gz")
	write(t, dir, map[string]string{"class.tar.gz": "an archive from before"})
	files, err := class.Write(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := unpacked(t, bytes.NewReader(archive))
	names := []string{
		"lockstep-class/docs/a.md", "lockstep-class/go.mod",
		"lockstep-class/modules/of-bench/@v/v1.zip", "lockstep-class/modules/x/@v/v1.zip",
		"lockstep-class/offline.ps1", "lockstep-class/offline.sh",
	}
	var all []string
	for name := range got {
		all = append(all, name)
	}
	if slices.Sort(all); !slices.Equal(all, names) || files != len(names) {
		t.Errorf("%d files: %q; want %q", files, all, names)
	}
	if got["lockstep-class/modules/x/@v/v1.zip"] != "zip" || !strings.Contains(got["lockstep-class/offline.sh"], "/modules") {
		t.Errorf("%q", got)
	}
	if want := "GOPROXY=file:///home/a%20b/mod/cache/download,https://proxy.example"; !slices.Contains(asked, want) {
		t.Errorf("go was asked with %q; want %s", asked, want)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestNoModules(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	errNone := errors.New("no network")
	name := filepath.Join(t.TempDir(), "class.tar.gz")
	class := pack.Class{Dir: t.TempDir(), Run: func(context.Context, []string, string, ...string) (string, error) { return "", errNone }}
	if _, err := class.Write(t.Context(), name); err == nil || !strings.Contains(err.Error(), class.Dir+" is not a clone of lockstep") {
		t.Error(err)
	}
	write(t, class.Dir, map[string]string{"go.mod": "module lockstep\n"})
	if _, err := class.Write(t.Context(), name); !errors.Is(err, errNone) || !strings.Contains(err.Error(), "collect the modules") {
		t.Error(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an archive is left: %v", err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
