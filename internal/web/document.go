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

// The kinds of documents. The module documents/<kind>.js draws each.
const (
	KindSchedules = "schedules" // schedules of a lock; the data is that of package explore/report
	KindBurst     = "burst"     // a burst of buyers; the data is Burst
	KindRun       = "run"       // a run of the shop; the page adds the data, see emptyRun
)

// Burst is the data of a burst's document: the buyers' answers, and what the shop's locks did meanwhile.
type Burst struct {
	Result any    `json:"result"` // the result that lockstep burst --json prints
	Says   string `json:"says"`   // the verdict in words
	ShopRecording
}

// ShopRecording is the recorded stream of a shop.
type ShopRecording struct {
	Frames any                        `json:"frames"` // frames of GET /live, each with its name; null: the shop was not watched
	Pairs  map[string]json.RawMessage `json:"pairs"`  // traces of two sales, keyed by both names with a space between them
}

// Document returns an HTML file that contains data and the modules and styles that show it. The file opens from disk and requests nothing
// from a server. data is escaped: no text in it can end its element.
func Document(kind, title string, data any, in language.Language) ([]byte, error) {
	code, err := bundle(Files(), "documents/"+kind+".js")
	if err != nil {
		return nil, err
	}
	styles, err := allStyles(Files())
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(data) // Marshal writes < as \u003c.
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
	chunkSize = 32 << 10    // bytes of a document sent at a time, because the server limits the time of each write
	sendTime  = time.Minute // limit for a whole document
)

// Save answers with a document that the browser saves under name.
func Save(w http.ResponseWriter, name string, document []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(document))) // A truncated download then fails.
	late := time.Now().Add(sendTime)
	for part := range slices.Chunk(document, chunkSize) {
		if _, err := w.Write(part); err != nil || time.Now().After(late) {
			return // The reader has gone, or is too slow.
		}
	}
}

// Files with which the page saves a run: its module saver inserts the data into the empty document savedRun.
const (
	saver    = "documents/save.js"
	savedRun = "documents/run.html"
)

// emptyRun returns the document of a run without data.
func emptyRun() []byte {
	document, err := Document(KindRun, "lockstep", nil, language.English)
	if err != nil {
		panic(err) // All of its files are embedded.
	}
	return document
}

// allStyles returns the styles of the page followed by those of documents.
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

// hash returns the source expression by which a Content-Security-Policy allows text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
