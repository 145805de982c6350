package deploy

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/spf13/pflag"

	"lockstep/internal/config"
	"lockstep/internal/evolution"
)

func loadCompose(t *testing.T, env ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"../docker-compose.yml"}, cli.WithEnv(env))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestComposeFile(t *testing.T) {
	project := loadCompose(t, "LOCKSTEP_LOCK_VERSION=v4")
	shops := []string{"shop1", "shop2", "shop3"}
	names, want := slices.Sorted(slices.Values(project.ServiceNames())), append([]string{"nginx", "redis"}, shops...)
	if !slices.Equal(names, want) {
		t.Fatalf("services %v; want %v", names, want)
	}

	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags, evolution.Names())
	for _, name := range shops {
		shop := project.Services[name]
		if shop.DependsOn["redis"].Condition != types.ServiceConditionHealthy || len(shop.Ports) != 0 {
			t.Errorf("%s does not wait for Redis, or is published: %+v", name, shop)
		}
		builds, pulls := shop.Build != nil, shop.PullPolicy != types.PullPolicyNever
		if shop.Image != "lockstep" || builds != (name == "shop1") || !builds && pulls {
			t.Errorf("%s is not the image lockstep, which shop1 alone builds and nobody pulls: %+v", name, shop)
		}
		for variable, value := range shop.Environment {
			key := flags.Lookup("none")
			flags.VisitAll(func(flag *pflag.Flag) {
				if "LOCKSTEP_"+strings.ToUpper(strings.ReplaceAll(flag.Name, ".", "_")) == variable {
					key = flag
				}
			})
			if key == nil || value == nil {
				t.Errorf("%s: %s is no setting of config.yaml", name, variable)
				continue
			}
			t.Setenv(variable, *value)
		}
		cfg, err := config.Load(flags, evolution.Names())
		addrs := []string{"redis:6379"}
		if err != nil || cfg.Settings.Lock != "v4" || cfg.Server.Addr != "0.0.0.0:8080" || !slices.Equal(cfg.Redis.Addrs, addrs) {
			t.Errorf("%s is configured as %+v, %v", name, cfg, err)
		}
		if grace := shop.StopGracePeriod; grace == nil || time.Duration(*grace) < longestStop(cfg) {
			t.Errorf("%s has %v to end; it may take %v", name, grace, longestStop(cfg))
		}
		if !shop.ReadOnly || !slices.Equal(shop.CapDrop, []string{"ALL"}) || !slices.Equal(shop.SecurityOpt, []string{"no-new-privileges:true"}) {
			t.Errorf("%s may write or do more than it needs: %+v", name, shop)
		}
		if project.Services["nginx"].DependsOn[name].Condition != types.ServiceConditionHealthy {
			t.Errorf("nginx does not wait for %s", name)
		}
	}
	for name, service := range project.Services {
		if service.Restart != types.RestartPolicyUnlessStopped {
			t.Errorf("%s stays down when it dies: restart %q", name, service.Restart)
		}
		if log := service.Logging; log == nil || log.Options["max-size"] == "" || log.Options["max-file"] == "" {
			t.Errorf("the log of %s grows without bound: %+v", name, log)
		}
	}
	for name, want := range map[string]string{"nginx": "8080:80", "redis": "6380:6379"} {
		service := project.Services[name]
		if service.HealthCheck == nil || len(service.Ports) != 1 {
			t.Fatalf("%s: %+v", name, service)
		}
		port := service.Ports[0]
		if got := port.Published + ":" + strconv.Itoa(int(port.Target)); got != want || port.HostIP != "127.0.0.1" {
			t.Errorf("%s is published as %s on %q; want %s on loopback", name, got, port.HostIP, want)
		}
	}
	nginx := project.Services["nginx"]
	if len(nginx.Volumes) != 1 || path.Join(nginx.Volumes[0].Target, "front.sh") != nginx.Command[1] || nginx.StopSignal != "SIGQUIT" {
		t.Errorf("nginx does not run deploy/front.sh, or is not told to end as it expects: %+v", nginx)
	}
	for env, want := range map[string]string{"": "redis:8.4-alpine", "REDIS_IMAGE=valkey/valkey:9-alpine": "valkey/valkey:9-alpine"} {
		if got := loadCompose(t, env).Services["redis"].Image; got != want {
			t.Errorf("with %q the Redis is %s; want %s", env, got, want)
		}
	}
	if v := loadCompose(t).Services["shop1"].Environment["LOCKSTEP_LOCK_VERSION"]; v == nil || *v != "v0" {
		t.Errorf("without a word the lock is %v; want v0", v)
	}
}
