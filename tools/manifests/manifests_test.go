// Package manifests checks the project's Kubernetes manifest against the types of Kubernetes, which the product does not need.
package manifests

import (
	"bytes"
	"os"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// Every field is one that Kubernetes has, of its type. A pod is confined, probed, and found by its Service.
func TestManifest(t *testing.T) {
	text, err := os.ReadFile("../../deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var services []corev1.Service
	var deployments []appsv1.Deployment
	configs := map[string]bool{}
	var selectors []map[string]string // of what is about pods
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var is struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &is); err != nil {
			t.Fatal(err)
		}
		switch is.APIVersion + " " + is.Kind {
		case "v1 ConfigMap":
			configs[decode[corev1.ConfigMap](t, document).Name] = true
		case "v1 Service":
			services = append(services, decode[corev1.Service](t, document))
		case "apps/v1 Deployment":
			deployments = append(deployments, decode[appsv1.Deployment](t, document))
		case "policy/v1 PodDisruptionBudget":
			selectors = append(selectors, decode[policyv1.PodDisruptionBudget](t, document).Spec.Selector.MatchLabels)
		case "networking.k8s.io/v1 NetworkPolicy":
			policy := decode[networkingv1.NetworkPolicy](t, document).Spec
			selectors = append(selectors, policy.PodSelector.MatchLabels, policy.Ingress[0].From[0].PodSelector.MatchLabels)
		default:
			t.Errorf("%s %s is not checked", is.APIVersion, is.Kind)
		}
	}
	if len(deployments) != 2 || len(services) != 2 {
		t.Fatalf("%d deployments, %d services; want two of each", len(deployments), len(services))
	}
	for _, deployment := range deployments {
		pod := deployment.Spec.Template
		if !contains(pod.Labels, deployment.Spec.Selector.MatchLabels) {
			t.Errorf("%s does not find its pods", deployment.Name)
		}
		checkPod(t, pod.Spec)
		for _, volume := range pod.Spec.Volumes {
			if volume.ConfigMap == nil || !configs[volume.ConfigMap.Name] {
				t.Errorf("%s: there is no %+v", deployment.Name, volume)
			}
		}
	}
	for _, selector := range selectors {
		if !slices.ContainsFunc(deployments, func(d appsv1.Deployment) bool { return contains(d.Spec.Template.Labels, selector) }) {
			t.Errorf("%v finds no pods", selector)
		}
	}
	for _, service := range services {
		found := 0
		for _, deployment := range deployments {
			if contains(deployment.Spec.Template.Labels, service.Spec.Selector) {
				found++
				checkPorts(t, service, deployment.Spec.Template.Spec.Containers[0])
			}
		}
		if found != 1 {
			t.Errorf("the service %s finds the pods of %d deployments; want 1", service.Name, found)
		}
	}
}

func decode[T any](t *testing.T, document []byte) (object T) {
	t.Helper()
	if err := yaml.UnmarshalStrict(document, &object); err != nil {
		t.Errorf("%v\n%s", err, document)
	}
	return object
}

func contains(labels, all map[string]string) bool {
	for key, value := range all {
		if labels[key] != value {
			return false
		}
	}
	return len(all) > 0
}

// checkPod checks what the Pod Security Standard "restricted" asks for, and what a busy node needs.
func checkPod(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	of := pod.SecurityContext
	if of == nil || of.RunAsNonRoot == nil || !*of.RunAsNonRoot || of.RunAsUser == nil || *of.RunAsUser == 0 ||
		of.SeccompProfile == nil || of.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%s may run as root, or make any system call: %+v", pod.Containers[0].Name, of)
	}
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		of := container.SecurityContext
		if of == nil || of.ReadOnlyRootFilesystem == nil || !*of.ReadOnlyRootFilesystem || of.Capabilities == nil ||
			len(of.Capabilities.Drop) != 1 || of.Capabilities.Drop[0] != "ALL" || len(of.Capabilities.Add) != 0 ||
			of.AllowPrivilegeEscalation == nil || *of.AllowPrivilegeEscalation {
			t.Errorf("%s may do more than it needs: %+v", container.Name, of)
		}
		for _, resources := range []corev1.ResourceList{container.Resources.Requests, container.Resources.Limits} {
			if resources.Cpu().IsZero() || resources.Memory().IsZero() {
				t.Errorf("%s has no request or no limit: %+v", container.Name, container.Resources)
			}
		}
		mounted := map[string]bool{}
		for _, volume := range pod.Volumes {
			mounted[volume.Name] = true
		}
		for _, mount := range container.VolumeMounts {
			if !mounted[mount.Name] {
				t.Errorf("%s: there is no volume %s", container.Name, mount.Name)
			}
		}
	}
	for _, container := range pod.Containers {
		if container.LivenessProbe == nil || container.ReadinessProbe == nil {
			t.Errorf("%s is not probed", container.Name)
		}
	}
}

// checkPorts checks that a service, and the probes, name ports that the container has.
func checkPorts(t *testing.T, service corev1.Service, container corev1.Container) {
	t.Helper()
	has := map[string]bool{}
	for _, port := range container.Ports {
		has[port.Name] = true
	}
	for _, port := range service.Spec.Ports {
		if !has[port.TargetPort.StrVal] {
			t.Errorf("the service %s leads to no port of %s: %+v", service.Name, container.Name, port)
		}
	}
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
		if probe != nil && probe.HTTPGet != nil && !has[probe.HTTPGet.Port.StrVal] {
			t.Errorf("a probe of %s asks no port of it: %+v", container.Name, probe.HTTPGet)
		}
	}
}
