// Package config makes one validated Config of defaults, config.yaml, the environment and flags; each overrides those before it. It
// refuses keys that it does not know, by their names. It is the only package that knows viper.
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

// DefaultFile is read from the working directory if it is there and no other is named.
const DefaultFile = "config.yaml"

// The environment variables of secrets. Arguments are no place for them: other users of the machine can read those.
const (
	TokenVariable    = envPrefix + "_ADMIN_TOKEN"
	UsernameVariable = envPrefix + "_REDIS_USERNAME"
	PasswordVariable = envPrefix + "_REDIS_PASSWORD"
)

const (
	envPrefix = "LOCKSTEP"
	fileFlag  = "config"
)

// Config is every setting, valid.
type Config struct {
	File string // the file it came from; empty if none

	Server    Server
	Admin     Admin
	Redis     dao.Config
	Settings  history.Settings // of lock, sale and inventory
	MaxOrders int64            // that the ledger keeps
	Log       Log
}

// The groups of settings; config.yaml says what each is.
type (
	// Server is the address to listen at, further names of the server, the addresses of the other replicas, its own name, and the error of
	// its clock.
	Server struct {
		Addr        string
		Hosts       []string
		Peers       []string
		Replica     string
		ClockOffset time.Duration
	}
	// Admin is who may change things.
	Admin struct {
		Token string
		Open  bool
	}
	// Log is how much to say.
	Log struct{ Level string }
)

// URL returns the URL of a server with these settings, for this machine.
func (s Server) URL() string { return "http://" + Reachable(s.Addr) }

// AddFlags returns flags one flag for every key, and --config.
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

// Given returns the settings of a program that is told these alone, by their names, and no file, environment or flag.
func Given(settings map[string]string, versions []string) (cfg Config, err error) {
	table := keys(&cfg, versions)
	for _, k := range table {
		value, given := settings[k.name]
		if !given {
			value = k.byDefault
		}
		if wrong := k.set(value); wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %s is not allowed: %w", k.name, k.printable(value), wrong))
		}
	}
	for name := range settings {
		if !slices.ContainsFunc(table, func(k key) bool { return k.name == name }) {
			err = errors.Join(err, fmt.Errorf("there is no key %s", name))
		}
	}
	return cfg, err
}

// LoadOnly reads as Load does, but these settings alone, by their names; "redis." names a group. It is for clients, which may be beside
// the file of another program, or have a server's variables: what is wrong elsewhere is not looked at, and a file that is not named and is
// none of settings is none. Other fields of the configuration are empty.
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

// Load reads the settings. flags are those of AddFlags, parsed; versions are the locks there are. Its errors name the key,
// its value and what is allowed.
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

// set sets the fields of a configuration to what flags, the environment and a file say.
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
		if value == nil { // the key is there, and nothing after it
			value = k.byDefault
		}
		if err := k.set(value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %s is not allowed: %w",
				k.source(flags, from), k.name, k.printable(value), err))
		}
	}
	return problems
}

// checkTogether refuses keys that are each allowed alone, and names the source of one of them.
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

// check refuses keys that are each allowed alone, and names one of them that has a value.
func (a Admin) check() (name string, err error) {
	if a.Open && a.Token != "" {
		return "admin.open", errors.New("admin.open: true is not allowed with admin.token: " +
			"either everybody may change the shop, or only clients that send the token")
	}
	return "", nil
}

// checkRedis refuses keys that are each allowed alone, and names one of them that has a value.
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
	if err := checkPlaces(r); err != nil {
		return "redis.addrs", fmt.Errorf("redis.addrs: %w", err)
	}
	return "", nil
}

// unknownVariables refuses variables that are no key's. A name in other letters than capitals is another one, but for Windows.
func unknownVariables(environ []string, table []key) (problems []error) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		capitals := strings.ToUpper(name)
		if serviceLink.MatchString(variable) {
			continue
		}
		if !strings.HasPrefix(capitals, envPrefix+"_") || strings.HasPrefix(capitals, envPrefix+"_TEST_") { // that is for tests
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

// serviceLink matches the variables by which Kubernetes tells every container of a service whose name begins with lockstep: LOCKSTEP_PORT,
// LOCKSTEP_REDIS_SERVICE_HOST, and more (kubernetes.io: Service, discovering services).
var serviceLink = regexp.MustCompile(
	`^` + envPrefix + `(_\w+)?_(SERVICE_HOST=|SERVICE_PORT(_\w+)?=|PORT=[a-z]+://|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`)

func list(table []key, name func(key) string) string {
	var names []string
	for _, k := range table {
		names = append(names, name(k))
	}
	return strings.Join(names, ", ")
}
