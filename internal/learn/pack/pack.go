// Package pack makes one archive of the sources and of all modules that lockstep and bench need, so that a class can build without a
// network.
package pack

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/internal/learn/workshop"
)

// Name is the directory that the archive unpacks into; modules are in Modules below it, in the form of a module proxy.
const (
	Name    = "lockstep-class"
	Modules = "modules"
)

// offline are scripts that tell Go, in the terminal where one is sourced, to take modules from the archive alone. go.sum still checks each
// of them.
func offline() map[string]string {
	return map[string]string{
		"offline.sh": `# In this directory: . ./offline.sh
GOPROXY="file://$(pwd | sed 's/ /%20/g')/` + Modules + `"
GOSUMDB=off
GOTOOLCHAIN=local
export GOPROXY GOSUMDB GOTOOLCHAIN
`,
		"offline.ps1": `# In this directory: . .\offline.ps1
$env:GOPROXY = "file:///" + ((Get-Location).Path.Replace("\", "/").Replace(" ", "%20")) + "/` + Modules + `"
$env:GOSUMDB = "off"
$env:GOTOOLCHAIN = "local"
`,
	}
}

// Class is what an archive is made of.
type Class struct {
	Dir string // of the sources, as an absolute path
	// Run runs a program in Dir, with these variables beside the environment, and gives what it prints to standard output.
	Run func(ctx context.Context, env []string, program string, args ...string) (string, error)
}

// Write writes the archive into a file, and says how many files it has.
func (c Class) Write(ctx context.Context, name string) (files int, err error) {
	if root, err := workshop.FindRoot(c.Dir); err != nil || root != c.Dir {
		return 0, fmt.Errorf("%s is not a clone of lockstep: there is nothing to pack", c.Dir)
	}
	sources, err := c.sources(ctx)
	if err != nil {
		return 0, fmt.Errorf("list the sources: %w", err)
	}
	if own, err := filepath.Abs(name); err == nil { // an archive from before is no source
		sources = slices.DeleteFunc(sources, func(source string) bool { return filepath.Join(c.Dir, filepath.FromSlash(source)) == own })
	}
	cache, err := os.MkdirTemp("", "lockstep-modules-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	if err := c.download(ctx, cache); err != nil {
		return 0, fmt.Errorf("collect the modules: %w", err)
	}
	file, err := os.Create(name) //nolint:gosec // the user named it
	if err != nil {
		return 0, err
	}
	files, err = c.archive(file, sources, cache)
	err = errors.Join(err, file.Close())
	if info, there := os.Stat(name); err != nil && there == nil && info.Mode().IsRegular() { // half an archive is none; a device stays
		err = errors.Join(err, os.Remove(name))
	}
	return files, err
}

// archive writes the sources, and the modules of a cache.
func (c Class) archive(to io.Writer, sources []string, cache string) (files int, err error) {
	zipped := gzip.NewWriter(to)
	a := archive{tar: tar.NewWriter(zipped)}
	for _, name := range sources {
		err = errors.Join(err, a.file(filepath.Join(c.Dir, filepath.FromSlash(name)), name))
	}
	for name, text := range offline() {
		script := filepath.Join(cache, name)
		err = errors.Join(err, os.WriteFile(script, []byte(text), 0o644), a.file(script, name)) //nolint:gosec // it is for everybody to read
	}
	err = errors.Join(err, a.modules(filepath.Join(cache, "cache", "download")), a.tar.Close(), zipped.Close())
	return a.files, err
}

// sources returns the files that git knows or would take; without git, all that are there.
func (c Class) sources(ctx context.Context) (names []string, err error) {
	if _, err := os.Stat(filepath.Join(c.Dir, ".git")); err == nil {
		listed, err := c.Run(ctx, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		if err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(listed, "\x00") {
			if info, err := os.Stat(filepath.Join(c.Dir, name)); err == nil && info.Mode().IsRegular() {
				names = append(names, name)
			}
		}
		return names, nil
	}
	err = filepath.WalkDir(c.Dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(c.Dir, file)
		if name = filepath.ToSlash(name); !strings.HasPrefix(name, Modules+"/") { // of the archive that this was unpacked from
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// download fills a cache of modules with what go.mod lists, and that of bench, from the user's own cache where that has it.
func (c Class) download(ctx context.Context, cache string) error {
	said, err := c.Run(ctx, nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return err
	}
	own, proxy, _ := strings.Cut(strings.TrimSpace(said), "\n")
	local := filepath.ToSlash(filepath.Join(strings.TrimSpace(own), "cache", "download"))
	if !strings.HasPrefix(local, "/") {
		local = "/" + local // C:/…
	}
	env := []string{
		"GOMODCACHE=" + cache, "GOFLAGS=-modcacherw", "GOWORK=off",
		"GOPROXY=file://" + strings.ReplaceAll(local, " ", "%20") + "," + strings.TrimSpace(proxy),
	}
	for _, module := range []string{".", "bench"} {
		if _, err := c.Run(ctx, env, "go", "-C", module, "mod", "download"); err != nil {
			return err
		}
	}
	return nil
}

// archive is one that is being written.
type archive struct {
	tar   *tar.Writer
	files int
}

func (a *archive) file(from, name string) (err error) {
	file, err := os.Open(from) //nolint:gosec // it is one of the sources
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	a.files++
	if err := a.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: path.Join(Name, name), Size: info.Size(), Mode: int64(info.Mode().Perm() | 0o600), ModTime: info.ModTime(),
	}); err != nil {
		return err
	}
	_, err = io.Copy(a.tar, file)
	return err
}

// modules adds what a module proxy would serve; not the locks, and not what the checksum database said.
func (a *archive) modules(download string) error {
	return filepath.WalkDir(download, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "sumdb":
			return filepath.SkipDir
		case !entry.Type().IsRegular() || strings.HasSuffix(file, ".lock"):
			return nil
		}
		name, err := filepath.Rel(download, file)
		if err != nil {
			return err
		}
		return a.file(file, path.Join(Modules, filepath.ToSlash(name)))
	})
}
