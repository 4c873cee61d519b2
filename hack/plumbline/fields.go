package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// schemas holds the CRDs of the release whose fields count.
const schemas = "e2e/karpenter/testdata/v1.15.0"

const fieldsHead = `# Fields

<!-- Written by ` + "`make fields`" + ` from the last run. -->

Which fields the specs set in the objects that they create: each field of Karpenter's API (the CRDs of v1.15.0), and
those of Kubernetes' API that decide where or whether a pod runs, or may go. The controller's settings count as fields,
by their environment variables; FEATURE_GATES is set for a whole run. What a spec expects of a field, its promise
says. Fields of list items stand without an index. Of mappings with free keys, such as labels, the mapping counts.

`

// fields prints suites/fields.md from runs, whose folders it is given, or else from the last one. It
// reads the schemas of Karpenter's API, so it must run at the root of the repository.
func fields(_ context.Context, runs []string) error {
	outcomes, err := outcomesOf(runs, "make e2e")
	if err != nil {
		return err
	}
	all, err := karpenterFields(schemas)
	if err != nil {
		return err
	}
	settings, err := controllerSettings(schemas)
	if err != nil {
		return err
	}
	fmt.Print(fieldsTable(slices.Concat(settings, all, kubernetesFields()), outcomes))
	return nil
}

// outcomesOf returns the outcomes of runs in some folders, or else of the last run. The command makes such a run.
func outcomesOf(runs []string, command string) (all []report.Outcome, err error) {
	c, err := e2e.FromEnv()
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		runs = []string{filepath.Join(c.Artifacts, "latest")}
	}
	for _, run := range runs {
		outcomes, err := e2e.Outcomes(run)
		if err != nil {
			return nil, fmt.Errorf("there is no run in %s that says what its specs do; %s first: %w", run, command, err)
		}
		all = append(all, outcomes...)
	}
	return all, nil
}

// fieldsTable formats the fields, those first that no spec sets.
func fieldsTable(all []string, outcomes []report.Outcome) string {
	by := map[string][]string{}
	for _, o := range outcomes {
		for _, field := range o.Fields {
			if !slices.Contains(by[field], o.ID) {
				by[field] = append(by[field], o.ID)
			}
		}
	}
	var unset []string
	rows := map[string][]string{}
	for _, field := range all {
		specs := by[field]
		if len(specs) == 0 {
			unset = append(unset, "- `"+field+"`")
			continue
		}
		slices.Sort(specs)
		kind, _, _ := strings.Cut(field, ".")
		rows[kind] = append(rows[kind], fmt.Sprintf("| `%s` | %d | %s |", field, len(specs),
			strings.Join(specs[:min(3, len(specs))], ", ")))
	}
	var b strings.Builder
	b.WriteString(fieldsHead)
	fmt.Fprintf(&b, "%d of %d fields are set by a spec.\n\n## No spec sets\n\n%s\n", len(all)-len(unset), len(all),
		strings.Join(unset, "\n"))
	for _, kind := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "\n## %s\n\n| Field | Specs | Such as |\n|---|---|---|\n%s\n", kind, strings.Join(rows[kind], "\n"))
	}
	return b.String()
}

// schema is the part of an OpenAPI schema that names fields.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

// karpenterFields returns the fields of the CRDs in a folder, below spec.
func karpenterFields(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no CRDs in %s; run this from the root of the repository", folder)
	}
	if err != nil {
		return nil, err
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct{ OpenAPIV3Schema schema }
				}
			}
		}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		newest := crd.Spec.Versions[len(crd.Spec.Versions)-1].Schema.OpenAPIV3Schema
		all = append(all, newest.Properties["spec"].leaves(crd.Spec.Names.Kind+".spec")...)
	}
	return all, nil
}

// controllerSettings returns the settings that a file in a folder lists.
func controllerSettings(folder string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "settings.txt"))
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "#") {
			all = append(all, "Controller."+name)
		}
	}
	return all, nil
}

// leaves returns the fields that hold values, sorted.
func (s schema) leaves(path string) []string {
	if s.Items != nil {
		return s.Items.leaves(path)
	}
	if len(s.Properties) == 0 {
		return []string{path}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, s.Properties[name].leaves(path+"."+name)...)
	}
	return all
}

// decisive is a kind of Kubernetes' API and its fields that decide where or whether a pod runs,
// or may go. A field stands for all that it contains.
type decisive struct {
	kind   string
	of     any
	fields []string
}

// kubernetesFields returns the decisive fields of Kubernetes' API. All pod templates count as Pod.
// Left out are sources of volumes that are no drivers of today, and what only the kubelet reads.
func kubernetesFields() []string {
	var all []string
	for _, d := range []decisive{
		{"Pod.spec", corev1.PodSpec{}, []string{
			"activeDeadlineSeconds", "affinity", "containers.ports.hostIP", "containers.ports.hostPort",
			"containers.ports.protocol", "containers.resources", "hostNetwork", "initContainers.ports.hostPort",
			"initContainers.resources", "initContainers.restartPolicy", "nodeName", "nodeSelector", "os",
			"overhead", "preemptionPolicy", "priorityClassName", "resourceClaims", "resources", "restartPolicy",
			"runtimeClassName", "schedulerName", "schedulingGates", "terminationGracePeriodSeconds",
			"tolerations", "topologySpreadConstraints", "volumes.csi.driver",
			"volumes.ephemeral.volumeClaimTemplate.spec.accessModes",
			"volumes.ephemeral.volumeClaimTemplate.spec.resources",
			"volumes.ephemeral.volumeClaimTemplate.spec.storageClassName", "volumes.persistentVolumeClaim",
		}},
		{"PersistentVolume.spec", corev1.PersistentVolumeSpec{}, []string{
			"accessModes", "claimRef", "csi.driver", "hostPath", "local", "nodeAffinity", "storageClassName", "volumeMode",
		}},
		{"PersistentVolumeClaim.spec", corev1.PersistentVolumeClaimSpec{}, []string{
			"accessModes", "resources", "selector", "storageClassName", "volumeMode", "volumeName",
		}},
		{"PodDisruptionBudget.spec", policyv1.PodDisruptionBudgetSpec{}, []string{
			"maxUnavailable", "minAvailable", "selector", "unhealthyPodEvictionPolicy",
		}},
		{"PriorityClass", schedulingv1.PriorityClass{}, []string{"globalDefault", "preemptionPolicy", "value"}},
		{"StorageClass", storagev1.StorageClass{}, []string{"allowedTopologies", "provisioner", "volumeBindingMode"}},
	} {
		for _, leaf := range typeLeaves(reflect.TypeOf(d.of), "") {
			counts := func(field string) bool { return leaf == field || strings.HasPrefix(leaf, field+".") }
			if slices.ContainsFunc(d.fields, counts) {
				all = append(all, d.kind+"."+leaf)
			}
		}
	}
	return all
}

// typeLeaves returns the fields of a type of Kubernetes' API that hold values, in their order.
func typeLeaves(t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case t.Kind() != reflect.Struct, t == reflect.TypeFor[resource.Quantity](), t == reflect.TypeFor[metav1.Time](),
		t == reflect.TypeFor[intstr.IntOrString]():
		return []string{path}
	}
	var all []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && field.Anonymous:
			all = append(all, typeLeaves(field.Type, path)...)
		case name != "" && name != "-":
			all = append(all, typeLeaves(field.Type, strings.TrimPrefix(path+"."+name, "."))...)
		}
	}
	return all
}
