package simulator

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Kubelet holds what a machine's kubelet is started with. Its JSON form is the part of a KubeletConfiguration.
type Kubelet struct {
	Labels  map[string]string `json:"-"`
	Taints  []corev1.Taint    `json:"registerWithTaints,omitempty"`
	MaxPods int64             `json:"maxPods,omitempty"` // 0: the capacity's, or else 110
	// KubeReserved and SystemReserved hold quantities by resource.
	KubeReserved   map[string]string `json:"kubeReserved,omitempty"`
	SystemReserved map[string]string `json:"systemReserved,omitempty"`
	// EvictionHard holds quantities or percentages by signal, such as memory.available. Nil means the kubelet's own:
	// 100Mi of memory and 10 % of the disk.
	EvictionHard map[string]string `json:"evictionHard,omitempty"`
}

// defaultPods is the kubelet's default of --max-pods.
const defaultPods = 110

// evictionDefaults are the kubelet's default thresholds.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#hard-eviction-thresholds.
var evictionDefaults = map[string]string{"memory.available": "100Mi", "nodefs.available": "10%"}

// evictionSignals maps the signals that count against allocatable to resources.
var evictionSignals = map[string]corev1.ResourceName{
	"memory.available": corev1.ResourceMemory, "nodefs.available": corev1.ResourceEphemeralStorage,
}

// ParseKubeletFlags reads a kubelet's command line, whole or flag by flag: --node-labels, --register-with-taints,
// --max-pods, --kube-reserved, --system-reserved and --eviction-hard. It ignores other flags. Its errors name all
// mistakes.
func ParseKubeletFlags(flags ...string) (k Kubelet, err error) {
	var wrong []error
	for flag := range strings.FieldsSeq(strings.Join(flags, " ")) {
		name, value, _ := strings.Cut(flag, "=")
		value = strings.Trim(value, `"'`)
		var err error
		switch strings.TrimLeft(name, "-") {
		case "node-labels":
			k.Labels, err = pairs(value, "=")
		case "register-with-taints":
			k.Taints, err = taints(value)
		case "max-pods":
			k.MaxPods, err = strconv.ParseInt(value, 10, 64)
		case "kube-reserved":
			k.KubeReserved, err = pairs(value, "=")
		case "system-reserved":
			k.SystemReserved, err = pairs(value, "=")
		case "eviction-hard":
			k.EvictionHard, err = pairs(value, "<")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("kubelet flag %s: %w", flag, err))
		}
	}
	return k, errors.Join(wrong...)
}

// pairs reads a list such as a=1,b=2.
func pairs(text, separator string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, is := strings.Cut(pair, separator)
		if pair != "" && !is {
			return nil, fmt.Errorf("%q is not key%svalue", pair, separator)
		}
		if pair != "" {
			all[key] = value
		}
	}
	return all, nil
}

// taints reads a list such as key=value:NoSchedule,key:NoExecute.
func taints(text string) (all []corev1.Taint, err error) {
	for taint := range strings.SplitSeq(text, ",") {
		if taint == "" {
			continue
		}
		rest, effect, is := strings.Cut(taint, ":")
		if !is {
			return nil, fmt.Errorf("taint %q is not key=value:effect", taint)
		}
		key, value, _ := strings.Cut(rest, "=")
		all = append(all, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	return all, nil
}

// Node returns the part of a Node that its kubelet decides: labels, taints, and how much of the capacity is left for
// pods. Its errors name all mistakes in reservations.
func (k Kubelet) Node(capacity corev1.ResourceList) (Node, error) {
	n := Node{Labels: maps.Clone(k.Labels), Taints: slices.Clone(k.Taints), Capacity: capacity.DeepCopy()}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	if n.Capacity == nil {
		n.Capacity = corev1.ResourceList{}
	}
	if _, has := n.Capacity[corev1.ResourcePods]; k.MaxPods > 0 || !has {
		pods := k.MaxPods
		if pods == 0 {
			pods = defaultPods
		}
		n.Capacity[corev1.ResourcePods] = *resource.NewQuantity(pods, resource.DecimalSI)
	}
	n.Allocatable = n.Capacity.DeepCopy()
	var wrong []error
	keep := func(what string, name corev1.ResourceName, text string) {
		amount, err := quantity(text, n.Capacity[name])
		if err != nil {
			wrong = append(wrong, fmt.Errorf("the kubelet's %s: %s %q: %w", what, name, text, err))
			return
		}
		if left, has := n.Allocatable[name]; has {
			left.Sub(amount)
			if left.Sign() < 0 {
				left = resource.Quantity{Format: left.Format}
			}
			n.Allocatable[name] = left
		}
	}
	for name, text := range k.KubeReserved {
		keep("kubeReserved", corev1.ResourceName(name), text)
	}
	for name, text := range k.SystemReserved {
		keep("systemReserved", corev1.ResourceName(name), text)
	}
	thresholds := k.EvictionHard
	if thresholds == nil {
		thresholds = evictionDefaults
	}
	for signal, name := range evictionSignals {
		if text := thresholds[signal]; text != "" {
			keep("evictionHard", name, text)
		}
	}
	return n, errors.Join(wrong...)
}

// quantity reads a quantity, or a percentage of a whole.
func quantity(text string, whole resource.Quantity) (resource.Quantity, error) {
	share, is := strings.CutSuffix(text, "%")
	if !is {
		return resource.ParseQuantity(text)
	}
	percent, err := strconv.ParseFloat(share, 64)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("not a percentage: %w", err)
	}
	return *resource.NewQuantity(int64(float64(whole.Value())*percent/100), whole.Format), nil
}
