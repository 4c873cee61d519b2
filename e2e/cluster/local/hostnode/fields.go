package hostnode

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// fieldValue returns the value of a field reference, for env and downward API volumes. Each
// allows only some of these paths, which the API server checks.
func fieldValue(p *corev1.Pod, path string) (string, error) {
	if where, key, ok := subscript(path); ok {
		switch where {
		case "metadata.labels":
			return p.Labels[key], nil
		case "metadata.annotations":
			return p.Annotations[key], nil
		}
		return "", fmt.Errorf("field %q: only labels and annotations have keys", path)
	}
	switch path {
	case "metadata.name":
		return p.Name, nil
	case "metadata.namespace":
		return p.Namespace, nil
	case "metadata.uid":
		return string(p.UID), nil
	case "metadata.labels":
		return formatMap(p.Labels), nil
	case "metadata.annotations":
		return formatMap(p.Annotations), nil
	case "spec.nodeName":
		return Name, nil
	case "spec.serviceAccountName":
		return p.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs":
		return loopback, nil
	}
	return "", fmt.Errorf("field %q is not known", path)
}

// subscript splits metadata.labels['key'] into path and key.
func subscript(path string) (where, key string, ok bool) {
	rest, ok := strings.CutSuffix(path, "']")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "['")
}

// formatMap returns sorted lines of key="value", as the downward API documents.
func formatMap(m map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, k+"="+strconv.Quote(m[k]))
	}
	return strings.Join(all, "\n")
}

// resourceFieldValue returns a resource reference in units of its divisor, rounded up. Like
// the kubelet, it uses the node's capacity for an unset limit, and zero for an unset request.
func resourceFieldValue(p *corev1.Pod, container *corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	if ref.ContainerName != "" && (container == nil || ref.ContainerName != container.Name) {
		container = containerNamed(p, ref.ContainerName)
	}
	if container == nil {
		return "", fmt.Errorf("resource %q: the pod has no container %q", ref.Resource, ref.ContainerName)
	}
	kind, name, _ := strings.Cut(ref.Resource, ".")
	var amount resource.Quantity
	switch kind {
	case "limits":
		amount = container.Resources.Limits[corev1.ResourceName(name)]
		if amount.IsZero() {
			amount = capacity()[corev1.ResourceName(name)]
		}
	case "requests":
		amount = container.Resources.Requests[corev1.ResourceName(name)]
	default:
		return "", fmt.Errorf("resource %q is not known; wanted limits.<name> or requests.<name>", ref.Resource)
	}
	divisor := ref.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	parts := float64(amount.Value()) / float64(divisor.Value())
	if name == string(corev1.ResourceCPU) {
		parts = float64(amount.MilliValue()) / float64(divisor.MilliValue())
	}
	return strconv.FormatInt(int64(math.Ceil(parts)), 10), nil
}

func containerNamed(p *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
