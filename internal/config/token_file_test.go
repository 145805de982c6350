package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A token is read from a file without the line end at its end. A file that gives none is refused with the reason. Neither its path, which
// may be a token under the wrong key, nor its content is shown.
func TestTokenIsReadFromFile(t *testing.T) {
	const refused = ": admin.token_file: this value is not allowed: "
	for name, c := range map[string]struct {
		content, token string
		says           string // "": the token is read
	}{
		"alone":              {"Xs3cretX", "Xs3cretX", ""},
		"with a line end":    {"Xs3cretX\n", "Xs3cretX", ""},
		"with Windows' end":  {"Xs3cretX\r\n", "Xs3cretX", ""},
		"with two line ends": {"Xs3cretX\n\n", "", "the token in the file: want a text without a line end"},
		"with a space":       {"Xs3cretX \n", "", "the token in the file: want a text without spaces around it"},
		"short":              {"Xs3cret\n", "", "the file holds 7 bytes; want a token of 8 or more"},
		"empty":              {"", "", "the file holds 0 bytes; want a token of 8 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), hidden)
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := loadConfig(t, "", "--admin.token_file="+path)
			if got.Admin.Token != c.token && c.says == "" || (err == nil) != (c.says == "") {
				t.Fatalf("got token %q, %v; want %q, and an error that says %q", got.Admin.Token, err, c.token, c.says)
			}
			if err != nil && (!strings.HasPrefix(err.Error(), "flag"+refused+c.says) || strings.Contains(err.Error(), "Xs3cret")) {
				t.Errorf("got error %v; want %q without a secret", err, "flag"+refused+c.says)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		_, err := loadConfig(t, "", "--admin.token_file="+filepath.Join(t.TempDir(), hidden))
		if want := "flag" + refused + "want the path of a file that can be read: "; err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), hidden) {
			t.Errorf("got error %v; want %q without the path", err, want)
		}
	})
	t.Run("beside admin.token", func(t *testing.T) {
		_, err := loadConfig(t, "admin:\n  token: x\n  token_file: y\n")
		if want := "config.yaml:3" + refused + "admin.token is set, too; want one of them"; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got error %v; want %s", err, want)
		}
	})
	t.Run("beside admin.open", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(hidden), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadConfig(t, "", "--admin.open", "--admin.token_file="+path); err == nil ||
			!strings.Contains(err.Error(), "admin.open: true is not allowed with admin.token") {
			t.Errorf("got error %v; want that admin.open is refused", err)
		}
	})
}
