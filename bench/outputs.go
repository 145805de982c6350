package main

import (
	"errors"
	"io"
	"os"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/report"
	"lockstep/bench/internal/result"
)

// output is a file for results, and the function that writes them.
type output struct {
	file  *os.File
	write func(io.Writer, result.Run, []contestants.Contestant) error
}

// openOutputs opens the requested files. It is called before the run, so that an unwritable file does not waste it.
func (o options) openOutputs() ([]output, error) {
	var outputs []output
	for _, requested := range []struct {
		name  string
		write func(io.Writer, result.Run, []contestants.Contestant) error
	}{{o.json, report.JSON}, {o.steps, report.Steps}, {o.svg, report.SVG}, {o.markdown, report.Markdown}} {
		if requested.name == "" {
			continue
		}
		file, err := os.OpenFile(requested.name, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // the user names the file
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, output{file, requested.write})
	}
	return outputs, nil
}

// replace replaces the content of the file.
func (o output) replace(run result.Run, table []contestants.Contestant) error {
	if err := o.file.Truncate(0); err != nil {
		return err
	}
	return errors.Join(o.write(o.file, run, table), o.file.Close())
}
