package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// size is a size of machines. Each has a MachineDeployment in each zone.
type size struct {
	arch      string
	cpu, gibs int
}

// sizes returns the sizes of machines by name. The provider takes the first name that fits, as none has a price.
func sizes() map[string]size {
	return map[string]size{
		"general-02": {"amd64", 2, 8}, "general-04": {"amd64", 4, 16}, "general-08": {"amd64", 8, 32},
		"general-16": {"amd64", 16, 64}, "general-32": {"amd64", 32, 128}, "general-64-arm": {"arm64", 64, 256},
	}
}

// zones returns the zones. The MachineDeployments of a zone are in a namespace of its name, so
// that Machines in different namespaces have the same names.
func zones() []string { return []string{"zone-a", "zone-b", "zone-c"} }

// clusterName is the Cluster that all Machines belong to.
const clusterName = "plumbline"

// offer is what a MachineDeployment offers.
type offer struct {
	size
	name, zone   string // the MachineDeployment's name and namespace
	instanceType string
}

// offers returns what all MachineDeployments offer. Each is an instance type of its own, such as
// general-04-a, unless the zones have the same types.
func offers(sameTypes bool) []offer {
	var all []offer
	for _, zone := range zones() {
		for name, s := range sizes() {
			o := offer{size: s, name: name, zone: zone, instanceType: name}
			if !sameTypes {
				o.instanceType += strings.TrimPrefix(zone, "zone")
			}
			all = append(all, o)
		}
	}
	return all
}

// deployment returns the MachineDeployment of an offer, without replicas. Labels and capacity are in the
// annotations that Cluster API has for autoscalers.
// Source: docs/proposals/20210310-opt-in-autoscaling-from-zero.md of Cluster API.
func deployment(o offer) *unstructured.Unstructured {
	selector := map[string]any{deploymentLabel: o.name}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": deployments.GroupVersion().String(), "kind": "MachineDeployment",
		"metadata": map[string]any{
			"name": o.name, "namespace": o.zone,
			"labels": map[string]any{memberLabel: ""},
			"annotations": map[string]any{
				capacityPrefix + "cpu":            strconv.Itoa(o.cpu),
				capacityPrefix + "memory":         fmt.Sprintf("%dGi", o.gibs),
				capacityPrefix + "ephemeral-disk": "100Gi",
				capacityPrefix + "maxPods":        "110",
				capacityPrefix + "labels": fmt.Sprintf("%s=%s,%s=%s,%s=linux,%s=%s,%s=on-demand",
					corev1.LabelInstanceTypeStable, o.instanceType, corev1.LabelArchStable, o.arch, corev1.LabelOSStable,
					corev1.LabelTopologyZone, o.zone, capacityTypeLabel),
			},
		},
		"spec": map[string]any{
			"clusterName": clusterName, "replicas": int64(0),
			"selector": map[string]any{"matchLabels": selector},
			"template": map[string]any{
				"metadata": map[string]any{"labels": selector},
				"spec": map[string]any{
					"clusterName":       clusterName,
					"bootstrap":         map[string]any{"dataSecretName": "none"},
					"infrastructureRef": map[string]any{"kind": "SimulatedMachineTemplate", "name": o.name},
				},
			},
		},
	}}
}

// createAll creates the zones' namespaces and the MachineDeployments of all offers that don't exist yet.
func createAll(ctx context.Context, api dynamic.Interface, all []offer) error {
	for _, zone := range zones() {
		namespace := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": zone},
		}}
		_, err := api.Resource(namespaces).Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating namespace %s: %w", zone, err)
		}
	}
	for _, o := range all {
		_, err := api.Resource(deployments).Namespace(o.zone).Create(ctx, deployment(o), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating MachineDeployment %s/%s: %w", o.zone, o.name, err)
		}
	}
	return nil
}
