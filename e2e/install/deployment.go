package install

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

// manifests holds the objects to apply, and the controller among them.
type manifests struct {
	objects    []*unstructured.Unstructured
	deployment *unstructured.Unstructured // one of the objects
	selector   string                     // the label selector of its pods
	container  corev1.Container           // the controller's
}

// Environment variables of every provider: its feature gates, and the namespace of its lease.
const (
	gatesVariable = "FEATURE_GATES"
	leaseVariable = "LEADER_ELECTION_NAMESPACE"
)

// adjust finds the controller's Deployment and sets the loaded image, the adapter's env and
// gates, the ports that were taken, and one replica. There is one host node, and charts forbid two replicas on it.
// Its taint is the harness's, so that the harness adds the toleration.
func (p *Prepared) adjust(objects []*unstructured.Unstructured, v providers.Values) (*manifests, error) {
	m := &manifests{objects: objects}
	k := &p.adapter.Controller
	var err error
	if m.deployment, err = controllerOf(objects, k.Deployment); err != nil {
		return nil, err
	}
	if m.deployment.GetNamespace() == "" {
		m.deployment.SetNamespace(v.Namespace)
	}
	what := "Deployment " + m.deployment.GetName()
	matchLabels, _, err := unstructured.NestedStringMap(m.deployment.Object, "spec", "selector", "matchLabels")
	if err != nil || len(matchLabels) == 0 {
		return nil, fmt.Errorf("%s has no spec.selector.matchLabels", what)
	}
	m.selector = labels.SelectorFromSet(matchLabels).String()

	path := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(m.deployment.Object, path...)
	if err != nil || len(containers) == 0 {
		return nil, fmt.Errorf("%s has no containers", what)
	}
	container, err := ControllerContainer(containers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if container["env"], err = p.env(container["env"], v); err != nil {
		return nil, err
	}
	if p.controller.built {
		delete(container, "command") // it is for a released image; a built one has its only program as entrypoint
	}
	if err := p.addFiles(m, container, v); err != nil {
		return nil, err
	}
	movePorts(container, p.adapter.Controller.Ports, v.Ports)
	container["image"] = v.Image.Name
	container["imagePullPolicy"] = string(corev1.PullIfNotPresent) // the image is loaded, and in no registry
	if err := unstructured.SetNestedSlice(m.deployment.Object, containers, path...); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := unstructured.SetNestedField(m.deployment.Object, int64(1), "spec", "replicas"); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := tolerate(m.deployment); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(container, &m.container); err != nil {
		return nil, fmt.Errorf("%s: its container %v is malformed: %w", what, container["name"], err)
	}
	return m, nil
}

// tolerate lets a Deployment's pods run on nodes with the SystemTaint. Not every chart does.
func tolerate(deployment *unstructured.Unstructured) error {
	path := []string{"spec", "template", "spec", "tolerations"}
	all, _, err := unstructured.NestedSlice(deployment.Object, path...)
	if err != nil {
		return err
	}
	all = append(all, map[string]any{"key": cluster.SystemTaint, "operator": string(corev1.TolerationOpExists)})
	return unstructured.SetNestedSlice(deployment.Object, all, path...)
}

// movePorts replaces preferred ports by those that were taken, in the ports and the probes of a container. Charts write
// some of them as constants.
func movePorts(container map[string]any, preferred, taken map[string]int) {
	moved := map[int64]int64{}
	for name, port := range preferred {
		moved[int64(port)] = int64(taken[name])
	}
	move := func(holder map[string]any, field string) {
		if port, is := holder[field].(int64); is && moved[port] != 0 {
			holder[field] = moved[port]
		}
	}
	ports, _ := container["ports"].([]any)
	for _, port := range ports {
		if p, is := port.(map[string]any); is {
			move(p, "containerPort")
		}
	}
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		if get, is, _ := unstructured.NestedFieldNoCopy(container, probe, "httpGet"); is {
			if g, is := get.(map[string]any); is {
				move(g, "port")
			}
		}
	}
}

// controllerOf returns the Deployment with this name. Without a name it returns the only one.
func controllerOf(objects []*unstructured.Unstructured, name string) (*unstructured.Unstructured, error) {
	var names []string
	var found *unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		names = append(names, o.GetName())
		if name == "" || o.GetName() == name {
			found = o
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("no Deployment is among the %d manifests; the controller must be one: is this the right "+
			"chart, and do its values switch the controller off?", len(objects))
	case found == nil:
		return nil, fmt.Errorf("no Deployment is named %s (controller.deployment); there are %s", name,
			strings.Join(names, ", "))
	case name == "" && len(names) > 1:
		return nil, fmt.Errorf("there are several Deployments; say in controller.deployment which is the controller: %s",
			strings.Join(names, ", "))
	}
	return found, nil
}

// ControllerContainer returns the container "controller", as Karpenter names it, or the first.
func ControllerContainer(containers []any) (map[string]any, error) {
	for _, c := range containers {
		if m, ok := c.(map[string]any); ok && m["name"] == "controller" {
			return m, nil
		}
	}
	if m, ok := containers[0].(map[string]any); ok {
		return m, nil
	}
	return nil, fmt.Errorf("its first container is no mapping")
}

// env merges the adapter's env and gates into the chart's. Of several entries with one name
// the last wins, as in the kubelet. Server-side apply refuses duplicates. Those of a proxy win
// over the chart's only.
func (p *Prepared) env(rendered any, v providers.Values) ([]any, error) {
	list, _ := rendered.([]any)
	var env []any
	set := func(name string, entry map[string]any) {
		env = slices.DeleteFunc(env, func(e any) bool { return e.(map[string]any)["name"] == name })
		env = append(env, entry)
	}
	// Karpenter reads this by itself where it has in-cluster files. It has none in processes without a root of their own.
	set(leaseVariable, map[string]any{"name": leaseVariable, "value": v.Namespace})
	gates := ""
	for _, e := range list {
		entry, ok := e.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("an env entry of the controller is no mapping: %v", e)
		}
		name, _ := entry["name"].(string)
		if name == gatesVariable {
			gates, _ = entry["value"].(string)
		}
		set(name, entry)
	}
	k := &p.adapter.Controller
	behind, err := p.adapter.Simulator.Proxies(p.core)
	if err != nil {
		return nil, fmt.Errorf("simulator.proxyReleases: %w", err)
	}
	if behind {
		through := proxied(v)
		for _, name := range slices.Sorted(maps.Keys(through)) {
			set(name, map[string]any{"name": name, "value": through[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Env)) {
		value, err := providers.Expand(k.Env[name], v)
		if err != nil {
			return nil, fmt.Errorf("controller.env.%s: %w", name, err)
		}
		if name == gatesVariable {
			gates = value
		}
		set(name, map[string]any{"name": name, "value": value})
	}
	if len(k.Gates) > 0 {
		set(gatesVariable, map[string]any{"name": gatesVariable, "value": withGates(gates, k.Gates)})
	}
	return env, nil
}

// withGates merges gates into a list such as "NodeRepair=false,StaticCapacity=true".
func withGates(list string, gates map[string]bool) string {
	var kept []string
	for g := range strings.SplitSeq(list, ",") {
		if name, _, _ := strings.Cut(g, "="); strings.TrimSpace(g) != "" {
			if _, ours := gates[strings.TrimSpace(name)]; !ours {
				kept = append(kept, g)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		kept = append(kept, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return strings.Join(kept, ",")
}

// serviceAccount returns the service account of a Deployment's pods.
func serviceAccount(deployment *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "serviceAccountName")
	return cmp.Or(name, "default")
}
