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

// PasswordVariable is the environment variable of redis.password.
const PasswordVariable = envPrefix + "_REDIS_PASSWORD"

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
	// Server is where to listen, under which name to answer, and how wrong the clock is.
	Server struct {
		Addr, Replica string
		ClockOffset   time.Duration
	}
	// Admin is who may change things.
	Admin struct{ Token string }
	// Redis is which Redis.
	Redis struct {
		Addrs        []string
		EmbeddedAddr string
		MasterName   string
		Cluster      bool
		RedlockAddrs []string
		Username     string
		Password     string
		TLS          bool
		TLSCA        string
	}
	// Lock is which lock.
	Lock struct {
		Version       string
		TTL           time.Duration
		RetryInterval time.Duration
		WaitTimeout   time.Duration
		MaxPasses     int
	}
	// Sale is what a sale does under it.
	Sale struct {
		ThinkTime time.Duration
		Nested    int
	}
	// Inventory is what there is to sell, and how much of what was sold is kept.
	Inventory struct{ Initial, MaxOrders int64 }
	// Log is how much to say.
	Log struct{ Level string }
)

// AddFlags gives flags one flag for every key, and --config.
func AddFlags(flags *pflag.FlagSet, versions []string) {
	flags.String(fileFlag, "", "configuration file (default: "+DefaultFile+", if there is one here)")
	for _, k := range keys(versions) {
		help := k.help
		if k.byDefault != "" {
			help += fmt.Sprintf(" (default %s)", k.byDefault)
		}
		flags.String(k.name, "", help)
		if k.byDefault == "false" {
			flags.Lookup(k.name).NoOptDefVal = "true"
		}
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
			return cfg, fmt.Errorf("configuration file: %w", err)
		}
		problems = append(problems, unknownKeys(v, table)...)
	}
	fromFile := v.AllKeys()
	problems = append(problems, unknownVariables(os.Environ(), table)...)
	for _, k := range table {
		v.SetDefault(k.name, k.byDefault)
		problems = append(problems,
			v.BindEnv(k.name, k.variable()),
			v.BindPFlag(k.name, flags.Lookup(k.name)))
		value := v.Get(k.name)
		if value == nil { // its group is empty, or unknownKeys has named it
			value = k.byDefault
		}
		if err := k.set(&cfg, value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %s is not allowed: %w",
				k.source(flags, file, fromFile), k.name, k.told(value), err))
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
	case len(r.Addrs) == 0 && (r.Username+r.Password+r.TLSCA != "" || r.TLS):
		return errors.New("redis.addrs: empty is not allowed with redis.username, redis.password or redis.tls: the embedded Redis has none")
	case r.TLSCA != "" && !r.TLS:
		return errors.New("redis.tls_ca: a file is not allowed without redis.tls: true")
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

func unknownKeys(file *viper.Viper, table []key) (problems []error) {
	found := file.AllKeys()
	slices.Sort(found)
	for _, name := range found {
		isKey := slices.ContainsFunc(table, func(k key) bool { return k.name == name })
		isGroup := slices.ContainsFunc(table, func(k key) bool { return strings.HasPrefix(k.name, name+".") })
		switch {
		case isKey, isGroup && file.Get(name) == nil: // a group of which every line is a comment
		case isGroup:
			problems = append(problems, fmt.Errorf("%s: %s: one value is not allowed: it is a group of keys; there are %s",
				file.ConfigFileUsed(), name, list(table, key.path)))
		default:
			problems = append(problems, fmt.Errorf("%s: there is no key %s; there are %s",
				file.ConfigFileUsed(), name, list(table, key.path)))
		}
	}
	return problems
}

func unknownVariables(environ []string, table []key) (problems []error) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix+"_PORT") || strings.HasPrefix(name, envPrefix+"_SERVICE_") {
			continue // Kubernetes tells every container of a service called lockstep by these
		}
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
