package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	kyaml "sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// standing is how long objects of a file stand that has no times.
const standing = time.Hour

// Read reads a workload from a file. It may hold
//
//   - objects of a cluster of yours, as `kubectl get deploy,sts,ds,pdb,nodepools -A -o yaml` prints them, in YAML or
//     JSON: they are applied at the start, and stand for an hour;
//   - a trace of SimKube, in MessagePack as `skctl export` writes it, or in JSON as msgpack2json does: its objects
//     are applied and deleted at their times. How long its pods lived is not read: their owners decide;
//   - a log of kubereplay, in JSON as `kubereplay capture` writes it: its Deployments and Jobs are created, scaled and
//     deleted at their times.
//
// What can't be played is left out, and Notes say so. The error says which object is wrong, and lists all of them.
// Without a NodePool in the file, there is one of small nodes.
func Read(file string) (*Workload, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	w := &Workload{Name: filepath.Base(file)}
	r := &reader{Workload: w, left: map[string]int{}, seen: map[string]bool{}}
	switch {
	case isKubeReplay(data):
		err = r.kubeReplay(data)
	case isSimKube(data):
		err = r.simKube(data)
	default:
		err = r.objects(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if !r.pods {
		return nil, fmt.Errorf("%s: it has no workload, such as a Deployment: kubectl get deploy,sts,ds,pdb,nodepools -A "+
			"-o yaml prints what is wanted", file)
	}
	r.complete()
	return w, nil
}

// reader makes a workload from objects.
type reader struct {
	*Workload
	left       map[string]int  // what is left out, by the reason
	seen       map[string]bool // namespaces
	pods, pool bool            // there is a workload; a NodePool
}

func (r *reader) objects(data []byte) error {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var wrong []error
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		content := map[string]any{}
		if err == nil {
			document, err = kyaml.YAMLToJSON(document)
		}
		if err == nil {
			err = utiljson.Unmarshal(document, &content)
		}
		if err != nil {
			return fmt.Errorf("document %d: neither YAML nor JSON of Kubernetes' objects: %w", n, err)
		}
		if len(content) == 0 {
			continue
		}
		items, is := content["items"].([]any)
		if !is {
			items = []any{content}
		}
		for i, item := range items {
			if err := r.add(0, item, false); err != nil {
				wrong = append(wrong, fmt.Errorf("document %d, object %d: %w", n, i+1, err))
			}
		}
	}
	r.Length = standing
	return errors.Join(wrong...)
}

// add adds an action for an object, unless it can't be played.
func (r *reader) add(at time.Duration, item any, remove bool) error {
	content, is := item.(map[string]any)
	o := &unstructured.Unstructured{Object: content}
	if !is || o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == "" {
		return errors.New("it is no object of Kubernetes: apiVersion, kind or metadata.name is missing")
	}
	if why := unplayable(o); why != "" {
		r.left[why]++
		return nil
	}
	switch o.GetKind() {
	case "NodePool":
		r.pool = true
		_, class, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "template", "spec", "nodeClassRef")
		if class {
			unstructured.RemoveNestedField(o.Object, "spec", "template", "spec", "nodeClassRef")
		}
	case "PodDisruptionBudget", "PriorityClass":
	default:
		r.pods = true
	}
	if ns := o.GetNamespace(); ns != "" && !r.seen[ns] {
		r.seen[ns] = true
		r.Actions = append(r.Actions, Action{At: at, Object: fixtures.Existing("v1", "Namespace", ns).Unstructured()})
	}
	r.Actions = append(r.Actions, Action{At: at, Object: r.stripped(o), Delete: remove})
	return nil
}

// unplayable returns why an object is left out, or "".
func unplayable(o *unstructured.Unstructured) string {
	playable := []string{
		"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod", "PodDisruptionBudget", "PriorityClass",
		"NodePool",
	}
	switch {
	case !slices.Contains(playable, o.GetKind()):
		return o.GetKind() + " is neither a workload nor anything that decides where one runs"
	case len(o.GetOwnerReferences()) > 0:
		return o.GetKind() + " of an owner, which makes it"
	case o.GetNamespace() == "kube-system" && o.GetKind() != "PriorityClass":
		return o.GetKind() + " in kube-system"
	case o.GetKind() == "PriorityClass" && len(o.GetName()) > 7 && o.GetName()[:7] == "system-":
		return "PriorityClass of the system, which every cluster has"
	}
	return ""
}

// stripped returns the object without what only its own cluster has: status and identity, service accounts, and
// volumes that are claimed.
func (r *reader) stripped(o *unstructured.Unstructured) *unstructured.Unstructured {
	delete(o.Object, "status")
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	delete(annotations, "deployment.kubernetes.io/revision")
	o.Object["metadata"] = map[string]any{"name": o.GetName(), "namespace": o.GetNamespace()}
	if o.GetNamespace() == "" {
		unstructured.RemoveNestedField(o.Object, "metadata", "namespace")
	}
	if len(labels) > 0 {
		o.SetLabels(labels)
	}
	if len(annotations) > 0 {
		o.SetAnnotations(annotations)
	}
	for _, path := range [][]string{{"spec", "template", "spec"}, {"spec"}} {
		if o.GetKind() == "NodePool" || (len(path) == 1) != (o.GetKind() == "Pod") {
			continue
		}
		for _, field := range []string{"serviceAccount", "serviceAccountName", "nodeName", "imagePullSecrets"} {
			unstructured.RemoveNestedField(o.Object, append(slices.Clone(path), field)...)
		}
		r.dropVolumes(o, append(slices.Clone(path), "volumes"))
	}
	if _, claims, _ := unstructured.NestedSlice(o.Object, "spec", "volumeClaimTemplates"); claims {
		r.left["volumes that are claimed, of "+o.GetKind()]++
		unstructured.RemoveNestedField(o.Object, "spec", "volumeClaimTemplates")
	}
	if o.GetKind() == "Job" {
		unstructured.RemoveNestedField(o.Object, "spec", "selector") // made by the API server
		unstructured.RemoveNestedField(o.Object, "spec", "template", "metadata", "labels")
	}
	return o
}

// dropVolumes drops the volumes of pods, and what mounts them: nothing of them is there, and no node would look.
func (r *reader) dropVolumes(o *unstructured.Unstructured, path []string) {
	volumes, _, _ := unstructured.NestedSlice(o.Object, path...)
	for _, v := range volumes {
		if m, is := v.(map[string]any); is && m["persistentVolumeClaim"] != nil {
			r.left["volumes that are claimed, of "+o.GetKind()]++
		}
	}
	unstructured.RemoveNestedField(o.Object, path...)
	pod := path[:len(path)-1]
	for _, field := range []string{"containers", "initContainers"} {
		containers, has, _ := unstructured.NestedSlice(o.Object, append(slices.Clone(pod), field)...)
		if !has {
			continue
		}
		for _, c := range containers {
			if m, is := c.(map[string]any); is {
				delete(m, "volumeMounts")
				delete(m, "volumeDevices")
			}
		}
		_ = unstructured.SetNestedSlice(o.Object, containers, append(slices.Clone(pod), field)...)
	}
}

// complete puts NodePools and priorities first, adds a NodePool if there is none, and notes what was left out.
func (r *reader) complete() {
	first := func(a Action) int {
		return slices.Index([]string{"Namespace", "PriorityClass", "NodePool"}, a.Object.GetKind())
	}
	slices.SortStableFunc(r.Actions, func(a, b Action) int {
		fa, fb := first(a), first(b)
		switch {
		case a.At != b.At || fa == fb || a.Delete != b.Delete:
			return int(a.At - b.At)
		case fa < 0:
			return 1
		case fb < 0:
			return -1
		}
		return fa - fb
	})
	if !r.pool {
		m := newMaker(r.Name, 0)
		m.fleet("1m")
		r.Actions = slices.Insert(r.Actions, 0, m.Actions[0])
		r.Notes = append(r.Notes, "the file has no NodePool: there is one of on-demand nodes with up to 8 CPUs")
	}
	var left []string
	for why, n := range r.left {
		left = append(left, fmt.Sprintf("left out: %d %s", n, why))
	}
	slices.Sort(left)
	r.Notes = append(r.Notes, left...)
	r.sort()
}
