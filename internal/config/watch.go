package config

import (
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/viper"
)

// settle is how long a file must rest before it is read: an editor may empty it before it writes.
const settle = 200 * time.Millisecond

// Watch calls changed some time after each change of file, for as long as the process lives (viper's watch has no end).
func Watch(file string, changed func()) {
	v := viper.New() // of its own: it reads the file from another goroutine
	v.SetConfigFile(file)
	v.SetConfigType("yaml")
	rest := time.AfterFunc(time.Hour, changed)
	rest.Stop()
	v.OnConfigChange(func(fsnotify.Event) { rest.Reset(settle) })
	v.WatchConfig()
}
