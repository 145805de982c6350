package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
	"lockstep/internal/shop/load"
	"lockstep/internal/web"
)

// burstDocument is what --html writes of a burst. Nil, if the flag is not given, does nothing.
type burstDocument struct {
	file     *htmlFile
	watch    *load.Watch // nil: the server cannot be watched
	language language.Language
}

// openBurstDocument opens the file, and begins to watch the server.
func openBurstDocument(cmd *cobra.Command, name, target string, in language.Language) (*burstDocument, error) {
	file, err := openHTML(name)
	if err != nil || file == nil {
		return nil, err
	}
	d := &burstDocument{file: file, language: in}
	d.watch, err = load.Watched(cmd.Context(), target, string(d.language))
	if errors.Is(err, load.ErrUnwatched) {
		fmt.Fprintf(cmd.ErrOrStderr(), "burst: %v: %s will have the result alone\n", err, name)
		err = nil
	}
	if err != nil {
		return nil, errors.Join(err, file.close())
	}
	return d, nil
}

// write writes the document.
func (d *burstDocument) write(ctx context.Context, result load.Result) error {
	if d == nil {
		return nil
	}
	data := web.Burst{Result: result, Says: reason(result, d.language)}
	if d.watch != nil {
		frames := d.watch.Frames(ctx, result)
		data.Frames, data.Pairs = frames, d.watch.Pairs(ctx, frames)
	}
	document, err := web.Document(web.KindBurst, "lockstep burst: "+result.Lock, data, d.language)
	if err != nil {
		return err
	}
	return d.file.write(document)
}

// close ends the watch, and closes the file.
func (d *burstDocument) close() error {
	if d == nil {
		return nil
	}
	if d.watch != nil {
		d.watch.Close()
	}
	return d.file.close()
}
