package main

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Names of Cluster API, its autoscaler annotations and the provider.
const (
	group             = "cluster.x-k8s.io"
	version           = "v1beta1"
	deploymentLabel   = "cluster.x-k8s.io/deployment-name"
	deleteAnnotation  = "cluster.x-k8s.io/delete-machine"
	maxSizeAnnotation = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
	machineFinalizer  = "machine.cluster.x-k8s.io"
	capacityPrefix    = "capacity.cluster-autoscaler.kubernetes.io/"
	memberLabel       = "node.cluster.x-k8s.io/karpenter-member"
	capacityTypeLabel = "karpenter.sh/capacity-type"
)

// machine is the computer behind a Machine.
type machine struct {
	namespace, name string
	annotations     map[string]string // of its MachineDeployment
}

// Name is the node's. Machines of the same name in two namespaces have different nodes.
func (m *machine) Name() string { return m.name + "." + m.namespace }

func (m *machine) ProviderID() string { return "simulated://" + m.namespace + "/" + m.name }

// Labels returns the labels that the MachineDeployment announces for its nodes.
func (m *machine) Labels() map[string]string {
	all := map[string]string{}
	for label := range strings.SplitSeq(m.annotations[capacityPrefix+"labels"], ",") {
		if key, value, ok := strings.Cut(label, "="); ok {
			all[key] = value
		}
	}
	return all
}

func (m *machine) offering() simulator.Offering {
	labels := m.Labels()
	return simulator.Offering{
		Type: labels[corev1.LabelInstanceTypeStable], Zone: labels[corev1.LabelTopologyZone],
		CapacityType: labels[capacityTypeLabel],
	}
}

// Node returns the node with what its kubelet and the cloud controller manager say of it. Labels of
// Karpenter are not among them: they come from the NodeClaim.
func (m *machine) Node() (simulator.Node, error) {
	labels := m.Labels()
	maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, "karpenter.") })
	labels[corev1.LabelHostname] = m.Name()
	node := simulator.Node{
		Name: m.Name(), ProviderID: m.ProviderID(), Labels: labels,
		Taints: []corev1.Taint{{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}},
	}
	var err error
	node.Capacity, err = capacity(m.annotations)
	node.Allocatable = node.Capacity
	return node, err
}

// capacity reads the capacity of nodes from the annotations of a MachineDeployment.
func capacity(annotations map[string]string) (corev1.ResourceList, error) {
	all := corev1.ResourceList{}
	for name, key := range map[corev1.ResourceName]string{
		corev1.ResourceCPU: "cpu", corev1.ResourceMemory: "memory", corev1.ResourcePods: "maxPods",
		corev1.ResourceEphemeralStorage:                             "ephemeral-disk",
		corev1.ResourceName(annotations[capacityPrefix+"gpu-type"]): "gpu-count",
	} {
		text, there := annotations[capacityPrefix+key]
		if !there || name == "" {
			continue
		}
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("annotation %s%s: %q is not a quantity: %w", capacityPrefix, key, text, err)
		}
		all[name] = quantity
	}
	return all, nil
}

// newMachine returns the Machine number n of a MachineDeployment, without a provider ID. Its owner is the
// MachineDeployment itself, as there are no MachineSets.
func newMachine(d *unstructured.Unstructured, n int) *unstructured.Unstructured {
	template, _, _ := unstructured.NestedMap(d.Object, "spec", "template", "metadata") // optional in its schema
	spec, _, _ := unstructured.NestedMap(d.Object, "spec", "template", "spec")         // required by its schema
	m := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": machines.GroupVersion().String(), "kind": "Machine", "metadata": template, "spec": spec,
	}}
	m.SetName(fmt.Sprintf("%s-%d", d.GetName(), n))
	m.SetNamespace(d.GetNamespace())
	labels := m.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[deploymentLabel] = d.GetName()
	labels[revisionLabel] = revision(d)
	m.SetLabels(labels)
	m.SetFinalizers([]string{machineFinalizer})
	m.SetOwnerReferences(ownedBy(d))
	return m
}
