// Package config makes one validated Config of defaults, config.yaml, the environment and flags, in rising order. What it
// does not know it names and refuses. It is the only package that knows viper.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// DefaultFile is read from the working directory if it is there and no other is named.
const DefaultFile = "config.yaml"

const (
	envPrefix = "LOCKSTEP"
	fileFlag  = "config"
)

// Config is every setting, valid.
type Config struct {
	File string // the file it came from; empty if none

	Server    Server
	Admin     Admin
	Redis     Redis
	Lock      Lock
	Sale      Sale
	Inventory Inventory
	Log       Log
}

// The groups of settings; config.yaml says what each is.
type (
	// Server is where to listen.
	Server struct{ Addr string }
	// Admin is who may change things.
	Admin struct{ Token string }
	// Redis is which Redis.
	Redis struct {
		Addrs        []string
		EmbeddedAddr string
		MasterName   string
		Cluster      bool
	}
	// Lock is which lock.
	Lock struct {
		Version       string
		TTL           time.Duration
		RetryInterval time.Duration
		WaitTimeout   time.Duration
	}
	// Sale is what a sale does under it.
	Sale struct {
		ThinkTime time.Duration
		Nested    int
	}
	// Inventory is what there is to sell.
	Inventory struct{ Initial int64 }
	// Log is how much to say.
	Log struct{ Level string }
)

// AddFlags gives flags one flag for every key, and --config.
func AddFlags(flags *pflag.FlagSet, versions []string) {
	flags.String(fileFlag, "", "configuration file (default: "+DefaultFile+", if there is one here)")
	for _, k := range keys(versions) {
		flags.String(k.name, "", fmt.Sprintf("%s (default %q)", k.help, k.byDefault))
	}
}

// Load reads the settings. flags are those of AddFlags, parsed; versions are the locks there are. Its errors name the key,
// its value and what is allowed.
func Load(flags *pflag.FlagSet, versions []string) (Config, error) {
	table := keys(versions)
	v := viper.New()
	cfg := Config{}
	file, err := findFile(flags)
	if err != nil {
		return cfg, err
	}
	cfg.File = file
	var problems []error
	if file != "" {
		v.SetConfigFile(file)
		v.SetConfigType("yaml")
		if err := v.ReadInConfig(); err != nil {
			return cfg, fmt.Errorf("%s: %w", file, err)
		}
		problems = append(problems, unknownKeys(file, v.AllKeys(), table)...)
	}
	problems = append(problems, unknownVariables(os.Environ(), table)...)
	for _, k := range table {
		v.SetDefault(k.name, k.byDefault)
		problems = append(problems,
			v.BindEnv(k.name, k.variable()),
			v.BindPFlag(k.name, flags.Lookup(k.name)))
		if err := k.set(&cfg, v.Get(k.name)); err != nil {
			problems = append(problems, fmt.Errorf("%s: %#v is not allowed: %w", k.name, v.Get(k.name), err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return cfg, err
	}
	return cfg, cfg.Redis.check()
}

// check looks at what no key can know alone.
func (r Redis) check() error {
	switch {
	case len(r.Addrs) == 0 && (r.MasterName != "" || r.Cluster):
		return errors.New("redis.addrs: empty is not allowed with redis.master_name or redis.cluster: name the Sentinels or the nodes")
	case r.MasterName != "" && r.Cluster:
		return errors.New("redis.cluster: true is not allowed with redis.master_name: it is one or the other")
	case len(r.Addrs) > 1 && r.MasterName == "" && !r.Cluster:
		return fmt.Errorf("redis.addrs: %s is not allowed: more than one address needs redis.master_name (Sentinel) or redis.cluster: true",
			strings.Join(r.Addrs, ","))
	}
	return nil
}

func findFile(flags *pflag.FlagSet) (string, error) {
	if named, err := flags.GetString(fileFlag); err != nil || named != "" {
		return named, err
	}
	_, err := os.Stat(DefaultFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return DefaultFile, err
}

func unknownKeys(file string, found []string, table []key) (problems []error) {
	slices.Sort(found)
	for _, name := range found {
		if !slices.ContainsFunc(table, func(k key) bool { return k.name == name }) {
			problems = append(problems, fmt.Errorf("%s: there is no key %s; there are %s", file, name, list(table, key.path)))
		}
	}
	return problems
}

func unknownVariables(environ []string, table []key) (problems []error) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix+"_") && !slices.ContainsFunc(table, func(k key) bool { return k.variable() == name }) {
			problems = append(problems, fmt.Errorf("environment: there is no variable %s; there are %s", name, list(table, key.variable)))
		}
	}
	return problems
}

func list(table []key, name func(key) string) string {
	var names []string
	for _, k := range table {
		names = append(names, name(k))
	}
	return strings.Join(names, ", ")
}
