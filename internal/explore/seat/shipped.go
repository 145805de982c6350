package seat

import (
	"crypto/sha256"
	_ "embed" // of the table
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"strings"

	"lockstep/internal"
	"lockstep/util/lua"
)

//go:embed table.json
var shippedTable []byte

// Shipped is the table that a program brings along, for its first reader need not wait until it is explored. It counts as long as the code
// is that from which it was made: go test ./internal/test/oracle -tags long -update makes it anew.
type Shipped struct {
	Code string         `json:"code"` // CodeKey, when it was made
	Rows map[string]Row `json:"rows"` // by lock
}

// CodeKey stands for the code that the table is about: of the locks, their scripts, and the update.
func CodeKey() string {
	all := sha256.New()
	for _, files := range []fs.FS{internal.Sources, lua.Sources} {
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(files, name)
			all.Write([]byte(name + "\x00" + string(text) + "\x00"))
			return err
		})
		if err != nil {
			panic(err) // what is embedded can be read
		}
	}
	return base64.RawURLEncoding.EncodeToString(all.Sum(nil))
}

// load keeps the rows of a table that was shipped, and the ways that they know, if they are about this code.
func (s *Seat) load(text []byte) {
	var table Shipped
	if json.Unmarshal(text, &table) != nil || table.Code != CodeKey() {
		return
	}
	for lock, row := range table.Rows {
		row.Shipped = true
		s.keep(lock, row)
	}
}
