// Package config reads the settings into one validated Config: defaults, config.yaml, the environment and flags, of which each overrides
// the ones before. Unknown keys and invalid values are errors that name them. It is the only package that uses viper. Begin with Load.
package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// DefaultFile is the configuration file that is read from the working directory, if it exists and no other is named.
const DefaultFile = "config.yaml"

// The environment variables of secrets. Other users of the machine can read a process's arguments, but not its environment.
const (
	TokenVariable    = envPrefix + "_ADMIN_TOKEN"
	UsernameVariable = envPrefix + "_REDIS_USERNAME"
	PasswordVariable = envPrefix + "_REDIS_PASSWORD"
)

const (
	envPrefix = "LOCKSTEP" // prefix of every environment variable, before an underscore
	fileFlag  = "config"   // name of the flag that selects the configuration file
)

// Config holds every setting; all of them are valid.
type Config struct {
	File string // configuration file; empty: none was read

	Server    Server
	Admin     Admin
	Redis     dao.Config
	Settings  history.Settings // groups lock, sale and inventory
	MaxOrders int64            // longest ledger, in orders
	Log       Log
}

// The groups of settings; config.yaml describes each.
type (
	// Server configures the HTTP server and this replica.
	Server struct {
		Addr        string        // address to listen at
		Hosts       []string      // further names of the server in the Host header
		Peers       []string      // addresses of the other replicas
		Replica     string        // name of this replica
		ClockOffset time.Duration // how far the clock of this replica's locks is ahead; negative: behind
	}
	// Admin configures who may change the shop.
	Admin struct {
		Token     string // token of administrators; empty: none
		TokenFile string // file that Token was read from; empty: none
		Open      bool   // true: everybody may change the shop
	}
	// Log configures the log.
	Log struct{ Level string }
)

// URL returns the URL of a server with these settings, for this machine.
func (s Server) URL() string { return "http://" + Reachable(s.Addr) }

// AddFlags adds a flag for every key to flags, and --config.
func AddFlags(flags *pflag.FlagSet, versions []string) {
	flags.String(fileFlag, "", "configuration file (default: "+DefaultFile+", if there is one here)")
	for _, k := range keys(&Config{}, versions) {
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

// FromMap returns a configuration of only these settings, given by name, without a file, the environment or flags.
func FromMap(settings map[string]string, versions []string) (cfg Config, err error) {
	table := keys(&cfg, versions)
	for _, k := range table {
		value, ok := settings[k.name]
		if !ok {
			value = k.byDefault
		}
		if invalid := k.set(value); invalid != nil {
			err = errors.Join(err, fmt.Errorf("%s: %s is not allowed: %w", k.name, k.printable(value), invalid))
		}
	}
	for name := range settings {
		if !slices.ContainsFunc(table, func(k key) bool { return k.name == name }) {
			err = errors.Join(err, fmt.Errorf("there is no key %s", name))
		}
	}
	return cfg, err
}

// LoadOnly is Load for only some settings; a name like "redis." stands for a group. It is for clients, which may run beside the file of
// another program or with the variables of a server: it ignores errors in other settings, and a default file that is not a configuration.
// The other fields of the configuration are empty.
func LoadOnly(flags *pflag.FlagSet, versions []string, names ...string) (Config, error) {
	var cfg Config
	table := slices.DeleteFunc(keys(&cfg, versions), func(k key) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			return k.name == name || strings.HasSuffix(name, ".") && strings.HasPrefix(k.name, name)
		})
	})
	read, _, err := newFile(flags, table)
	named, _ := flags.GetString(fileFlag)
	if err != nil && named != "" {
		return cfg, err
	}
	cfg.File = read.name
	if err := errors.Join(set(flags, read, table)...); err != nil {
		return cfg, err
	}
	return cfg, cfg.checkTogether(flags, read, table)
}

// Load reads the settings. flags are the parsed flags of AddFlags, and versions the names of the locks. Its errors name the key, the value,
// and what is allowed.
func Load(flags *pflag.FlagSet, versions []string) (Config, error) {
	var cfg Config
	table := keys(&cfg, versions)
	file, problems, err := newFile(flags, table)
	if err != nil {
		return cfg, err
	}
	cfg.File = file.name
	problems = append(problems, unknownVariables(os.Environ(), table)...)
	problems = append(problems, set(flags, file, table)...)
	if err := errors.Join(problems...); err != nil {
		return cfg, err
	}
	return cfg, cfg.checkTogether(flags, file, table)
}

// set sets the fields of a configuration from flags, the environment and a file.
func set(flags *pflag.FlagSet, from file, table []key) (problems []error) {
	v := viper.New()
	if err := v.MergeConfigMap(from.values); err != nil {
		return []error{err}
	}
	for _, k := range table {
		v.SetDefault(k.name, k.byDefault)
		problems = append(problems,
			v.BindEnv(k.name, k.variable()),
			v.BindPFlag(k.name, flags.Lookup(k.name)))
		value := v.Get(k.name)
		if value == nil { // The file has the key without a value.
			value = k.byDefault
		}
		if err := k.set(value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %s is not allowed: %w",
				k.source(flags, from), k.name, k.printable(value), err))
		}
	}
	return problems
}

// checkTogether refuses settings that are valid by themselves but not together, and names the source of one of them.
func (c Config) checkTogether(flags *pflag.FlagSet, from file, table []key) error {
	var problems []error
	for _, check := range []func() (string, error){c.Admin.check, func() (string, error) { return checkRedis(c.Redis) }} {
		if name, err := check(); err != nil {
			i := slices.IndexFunc(table, func(k key) bool { return k.name == name })
			problems = append(problems, fmt.Errorf("%s: %w", table[i].source(flags, from), err))
		}
	}
	return errors.Join(problems...)
}

// check refuses settings that are valid by themselves but not together. name is a key among them that is set.
func (a Admin) check() (name string, err error) {
	if a.Open && a.Token != "" {
		return "admin.open", errors.New("admin.open: true is not allowed with admin.token: " +
			"either everybody may change the shop, or only clients that send the token")
	}
	return "", nil
}

// checkRedis refuses settings of Redis that are valid by themselves but not together. name is a key among them that is set.
func checkRedis(r dao.Config) (name string, err error) {
	secured := map[string]bool{
		"redis.username": r.Username != "", "redis.password": r.Password != "", "redis.tls": r.TLS,
		"redis.tls_ca": r.TLSCA != "", "redis.tls_cert": r.TLSCert != "", "redis.tls_key": r.TLSKey != "",
	}
	for _, name := range slices.Sorted(maps.Keys(secured)) {
		if secured[name] && len(r.Addrs) == 0 {
			return name, errors.New("redis.addrs: empty is not allowed with redis.username, redis.password or redis.tls: " +
				"the embedded Redis has none")
		}
	}
	for _, name := range []string{"redis.tls_ca", "redis.tls_cert", "redis.tls_key"} {
		if secured[name] && !r.TLS {
			return name, fmt.Errorf("%s: a file is not allowed without redis.tls: true, or rediss:// in redis.addrs", name)
		}
	}
	switch {
	case r.TLSKey == "" && r.TLSCert != "":
		return "redis.tls_cert", errors.New("redis.tls_cert: a file is not allowed without redis.tls_key: its private key")
	case r.TLSCert == "" && r.TLSKey != "":
		return "redis.tls_key", errors.New("redis.tls_key: a file is not allowed without redis.tls_cert: its certificate")
	case len(r.Addrs) == 0 && r.MasterName != "":
		return "redis.master_name", errors.New("redis.addrs: empty is not allowed with redis.master_name: name the Sentinels")
	case len(r.Addrs) == 0 && r.Cluster:
		return "redis.cluster", errors.New("redis.addrs: empty is not allowed with redis.cluster: name the nodes")
	case r.MasterName != "" && r.Cluster:
		return "redis.cluster", errors.New("redis.cluster: true is not allowed with redis.master_name: it is one or the other")
	case len(r.Addrs) > 1 && r.MasterName == "" && !r.Cluster:
		return "redis.addrs", fmt.Errorf("redis.addrs: %d addresses are not allowed: "+
			"more than one needs redis.master_name (Sentinel) or redis.cluster: true", len(r.Addrs))
	}
	if err := checkAddrs(r); err != nil {
		return "redis.addrs", fmt.Errorf("redis.addrs: %w", err)
	}
	return "", nil
}

// unknownVariables returns an error for each LOCKSTEP_ variable that no key has. Except on Windows, the name must be in capitals.
func unknownVariables(environ []string, table []key) (problems []error) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		capitals := strings.ToUpper(name)
		if serviceLink.MatchString(variable) {
			continue
		}
		if !strings.HasPrefix(capitals, envPrefix+"_") || strings.HasPrefix(capitals, envPrefix+"_TEST_") { // for tests
			continue
		}
		switch known := slices.ContainsFunc(table, func(k key) bool { return k.variable() == capitals }); {
		case !known:
			problems = append(problems, fmt.Errorf("environment: there is no variable %s; there are %s", name, list(table, key.variable)))
		case name != capitals && runtime.GOOS != "windows":
			problems = append(problems, fmt.Errorf("environment: there is no variable %s; its name is in capitals: %s", name, capitals))
		}
	}
	return problems
}

// serviceLink matches the variables that Kubernetes sets in every container for a service whose name begins with lockstep: LOCKSTEP_PORT,
// LOCKSTEP_REDIS_SERVICE_HOST, and more (kubernetes.io: Service, discovering services).
var serviceLink = regexp.MustCompile(
	`^` + envPrefix + `(_\w+)?_(SERVICE_HOST=|SERVICE_PORT(_\w+)?=|PORT=[a-z]+://|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`)

// list returns a name of each key, separated by commas.
func list(table []key, name func(key) string) string {
	var names []string
	for _, k := range table {
		names = append(names, name(k))
	}
	return strings.Join(names, ", ")
}
