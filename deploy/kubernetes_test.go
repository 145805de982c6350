package deploy

import (
	"errors"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"lockstep/internal/config"
	"lockstep/internal/evolution"
	"lockstep/internal/server"
)

// manifest has those fields of the objects in kubernetes.yaml that are this program's business; tools checks the others.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Replicas int
		Ports    []struct{ Port int }
		Template struct {
			Spec struct {
				Grace       int   `yaml:"terminationGracePeriodSeconds"`
				EnableLinks *bool `yaml:"enableServiceLinks"`
				Containers  []container
				Volumes     []struct {
					Name      string
					ConfigMap struct{ Name string } `yaml:"configMap"`
				}
			}
		}
	}
}

type container struct {
	Image           string
	ImagePullPolicy string `yaml:"imagePullPolicy"`
	Args            []string
	Env             []struct{ Name string }
	Ports           []struct {
		Port int `yaml:"containerPort"`
	}
	Liveness  probe `yaml:"livenessProbe"`
	Readiness probe `yaml:"readinessProbe"`
	Lifecycle struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
	Mounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		SubPath   string `yaml:"subPath"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	HTTPGet struct{ Path string } `yaml:"httpGet"`
}

// loadManifests returns the objects by kind and name.
func loadManifests(t *testing.T) map[string]manifest {
	t.Helper()
	file, err := os.Open("kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]manifest{}
	for decoder := yaml.NewDecoder(file); ; {
		var object manifest
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[object.Kind+" "+object.Metadata.Name] = object
	}
}

// The shops are configured by the ConfigMap, which is a valid configuration, and reached, probed and ended as it says.
func TestKubernetesFile(t *testing.T) {
	all := loadManifests(t)
	deployment, configMap := all["Deployment shop"].Spec, all["ConfigMap lockstep"]
	if deployment.Replicas != 3 || len(deployment.Template.Spec.Containers) != 1 || len(deployment.Template.Spec.Volumes) != 1 {
		t.Fatalf("want three shops of one container and its configuration: %+v", deployment)
	}
	pod := deployment.Template.Spec
	shop := pod.Containers[0]
	mount := shop.Mounts[0]
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(configMap.Data["config.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	if want := []string{"--config", path.Join(mount.MountPath, "config.yaml")}; !slices.Equal(shop.Args, want) ||
		pod.Volumes[0].ConfigMap.Name != configMap.Metadata.Name || mount.Name != pod.Volumes[0].Name || mount.SubPath != "" {
		t.Errorf("%v, of %+v at %+v, is not the ConfigMap as it is at any time", shop.Args, pod.Volumes, mount)
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags, evolution.Names())
	if err := flags.Set("config", file); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKSTEP_ADMIN_TOKEN", "") // the Secret may not be there
	for _, variable := range shop.Env {
		if variable.Name != "GOMEMLIMIT" && variable.Name != "LOCKSTEP_ADMIN_TOKEN" {
			t.Setenv(variable.Name, "shop-5d6c9f-x2x7p") // an unknown one is refused
		}
	}
	cfg, err := config.Load(flags, evolution.Names())
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(cfg.Server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	served := all["Service shop"].Spec.Ports
	if strconv.Itoa(shop.Ports[0].Port) != port || len(served) != 1 || served[0].Port != 8080 {
		t.Errorf("the shop listens on %s, its container has %+v, its Service %+v", port, shop.Ports, served)
	}
	redis := net.JoinHostPort("redis", strconv.Itoa(all["Service redis"].Spec.Ports[0].Port))
	if !slices.Equal(cfg.Redis.Addrs, []string{redis}) || cfg.Server.Replica != "shop-5d6c9f-x2x7p" {
		t.Errorf("a shop of the name %q uses the Redis %v; want its pod's name, and %s", cfg.Server.Replica, cfg.Redis.Addrs, redis)
	}
	if shop.Liveness.HTTPGet.Path != "/healthz" || shop.Readiness.HTTPGet.Path != "/readyz" {
		t.Errorf("probed at %+v, %+v", shop.Liveness, shop.Readiness)
	}
	if compose := loadCompose(t).Services["shop1"].Image; shop.Image != compose || shop.ImagePullPolicy != "Never" {
		t.Errorf("the image is %s (%s); want %s, which nobody pulls", shop.Image, shop.ImagePullPolicy, compose)
	}
	stop := time.Duration(pod.Grace-shop.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if shop.Lifecycle.PreStop.Sleep.Seconds == 0 || stop < longestStop(cfg) {
		t.Errorf("a shop has %v to end, after %+v; it may take %v", stop, shop.Lifecycle, longestStop(cfg))
	}
	if pod.EnableLinks == nil || *pod.EnableLinks {
		t.Error("variables of Services are in the shop's environment")
	}
}

// longestStop returns how long a shop may take to end.
func longestStop(cfg config.Config) time.Duration {
	return cfg.Settings.LongestSale() + 4*server.LeaveTime
}
