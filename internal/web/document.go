package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/language"
)

// The kinds of documents. Each is shown by the module of that name.
const (
	KindSchedules = "schedules" // the data is a lock's schedules, as explore/report has them
	KindBurst     = "burst"     // the data is Burst
	KindRun       = "run"       // the page adds the data: see emptyRun
)

// Burst is what buyers were told, and what the shop's locks did meanwhile.
type Burst struct {
	Result any    `json:"result"` // as lockstep burst --json
	Says   string `json:"says"`   // the verdict in words
	Watched
}

// Watched is what was seen of a shop.
type Watched struct {
	Frames any                        `json:"frames"` // of GET /live, each with its name; null: the shop was not watched
	Pairs  map[string]json.RawMessage `json:"pairs"`  // what two sales did, by their names with a space between them
}

// Document makes one file of data and of what shows it: the modules and styles of the page. It opens from disk, and asks no server for
// anything. Whatever data says, it stays data: no text of it can end the element that it is in.
func Document(kind, title string, data any, in language.Language) ([]byte, error) {
	code, err := bundle(Files(), "documents/"+kind+".js")
	if err != nil {
		return nil, err
	}
	styles, err := allStyles(Files())
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(data) // it writes < as \u003c
	if err != nil {
		return nil, fmt.Errorf("the data of a document: %w", err)
	}
	return []byte(strings.Join([]string{
		`<!doctype html>`,
		`<html lang="` + html.EscapeString(string(in)) + `">`,
		`<head>`,
		`<meta charset="utf-8">`,
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ` + hash(code) + `; style-src ` + hash(styles) +
			`; base-uri 'none'; form-action 'none'">`,
		`<meta name="viewport" content="width=device-width, initial-scale=1">`,
		`<meta name="color-scheme" content="light dark">`,
		`<title>` + html.EscapeString(title) + `</title>`,
		`<style>` + styles + `</style>`,
		`</head>`,
		`<body>`,
		`<main id="main"></main>`,
		`<noscript>` + language.Both("This document needs JavaScript.", "这个文档需要 JavaScript。").In(in) + `</noscript>`,
		`<script type="application/json" id="data">` + string(content) + `</script>`,
		`<script type="module">` + code + `</script>`,
		`</body>`,
		`</html>`,
		``,
	}, "\n")), nil
}

const (
	piece    = 32 << 10    // of a document that is sent at a time: a server bounds the time for each write
	sendTime = time.Minute // for all of it
)

// Save answers with a document, for the browser to save by this name.
func Save(w http.ResponseWriter, name string, document []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(document))) // so that what is cut off is no file
	late := time.Now().Add(sendTime)
	for part := range slices.Chunk(document, piece) {
		if _, err := w.Write(part); err != nil || time.Now().After(late) {
			return // the reader has gone, or is too slow
		}
	}
}

// The page saves a run itself: it puts the data into a document that has none.
const (
	saver    = "documents/save.js"
	savedRun = "documents/run.html"
)

// emptyRun returns the document of a run, without data.
func emptyRun() []byte {
	document, err := Document(KindRun, "lockstep", nil, language.English)
	if err != nil {
		panic(err) // it is of what is embedded
	}
	return document
}

// allStyles are those of the page and of a document, one after the other.
func allStyles(files fs.FS) (string, error) {
	var all strings.Builder
	for _, name := range []string{"style.css", "documents/document.css"} {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
}

// hash is how a Content-Security-Policy names what it allows.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
