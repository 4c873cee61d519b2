package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// replayed is an event of a log of kubereplay (karpenter-provider-aws: tools/kubereplay/pkg/format/log.go).
type replayed struct {
	at       time.Time
	do       string         // create, scale or delete
	kind     string         // Deployment or Job
	key      string         // namespace/name
	object   map[string]any // that is created
	replicas int64          // to which it is scaled
	took     time.Duration  // how long a Job ran
}

// jobTook is how long a Job ran of which the log doesn't say it, for kubereplay too.
const jobTook = 10 * time.Second

// isKubeReplay reports whether a file is a log of kubereplay, which says when it was captured.
func isKubeReplay(data []byte) bool { return isJSONWith(data, "captured", "events") }

// kubeReplay adds the events of a log, at their times since the first one. Jobs run as long as they did. Kubereplay
// itself gives each Deployment a PodDisruptionBudget, too, which the log hasn't.
func (r *reader) kubeReplay(data []byte) error {
	var log map[string]any
	if err := utiljson.Unmarshal(data, &log); err != nil {
		return fmt.Errorf("not a log of kubereplay: %w", err)
	}
	items, _ := log["events"].([]any)
	if len(items) == 0 {
		return errors.New("a log of kubereplay without events")
	}
	var events []replayed
	var wrong []error
	for i, item := range items {
		e, err := readReplayed(item)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("event %d of the log: %w", i+1, err))
			continue
		}
		events = append(events, e)
	}
	if wrong != nil {
		return errors.Join(wrong...)
	}
	slices.SortStableFunc(events, func(a, b replayed) int { return a.at.Compare(b.at) })
	there := map[string]map[string]any{} // by kind and key
	for _, e := range events {
		if err := r.replay(e, e.at.Sub(events[0].at), there); err != nil {
			wrong = append(wrong, fmt.Errorf("%s of %s %s: %w", e.do, e.kind, e.key, err))
		}
	}
	r.Length += standing / 2 // for what Karpenter does after the last event
	return errors.Join(wrong...)
}

// replay adds an event. What happens to a workload from before the log can't be played.
func (r *reader) replay(e replayed, at time.Duration, there map[string]map[string]any) error {
	r.Length = max(r.Length, at+e.took)
	id := e.kind + " " + e.key
	if e.kind == "Job" && e.do == "create" {
		return errors.Join(r.add(at, e.object, false), r.add(at+e.took, runtime.DeepCopyJSON(e.object), true))
	}
	if e.do == "create" {
		there[id] = e.object
	}
	object, is := there[id]
	if !is {
		r.left[fmt.Sprintf("%s of a %s that isn't there", e.do, e.kind)]++
		return nil
	}
	if e.do == "scale" {
		if err := unstructured.SetNestedField(object, e.replicas, "spec", "replicas"); err != nil {
			return err
		}
	}
	if e.do == "delete" {
		delete(there, id)
	}
	return r.add(at, runtime.DeepCopyJSON(object), e.do == "delete")
}

// readReplayed reads an event.
func readReplayed(item any) (e replayed, err error) {
	m, _ := item.(map[string]any)
	text := func(field string) string { s, _ := m[field].(string); return s }
	e = replayed{do: text("type"), kind: text("kind"), key: text("key")}
	if e.at, err = time.Parse(time.RFC3339, text("timestamp")); err != nil {
		return e, fmt.Errorf("timestamp: %q is no time such as 2026-01-02T15:04:05Z", text("timestamp"))
	}
	api := map[string]string{"Deployment": "apps/v1", "Job": "batch/v1"}[e.kind]
	if api == "" {
		return e, fmt.Errorf("kind: %q is neither Deployment nor Job", e.kind)
	}
	switch e.do {
	case "create":
		field := strings.ToLower(e.kind)
		object, is := m[field].(map[string]any)
		if !is {
			return e, fmt.Errorf("%s: it is missing", field)
		}
		object["apiVersion"], object["kind"] = api, e.kind // Go's types leave them out
		e.object = object
		if e.kind == "Job" {
			ns, _ := integer(m["duration"])
			e.took = cmp.Or(time.Duration(ns), jobTook)
			if e.object, err = jobPods(object); err != nil {
				return e, fmt.Errorf("%s: %w", field, err)
			}
		}
	case "scale":
		n, is := integer(m["replicas"])
		if !is {
			return e, errors.New("replicas: it is no whole number")
		}
		e.replicas = n
	case "delete":
	default:
		return e, fmt.Errorf("type: %q is none of create, scale and delete", e.do)
	}
	return e, nil
}

// jobPods returns a Deployment of the pods that a Job runs at the same time. It stands for the Job while that runs:
// KWOK completes the pods of Jobs at once.
func jobPods(content map[string]any) (map[string]any, error) {
	var job batchv1.Job
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &job); err != nil {
		return nil, err
	}
	labels := map[string]string{fixtures.Key("job"): job.Name}
	pods := job.Spec.Template
	pods.Labels, pods.Spec.RestartPolicy = labels, corev1.RestartPolicyAlways // Deployments know no other
	parallel := ptr.Deref(job.Spec.Parallelism, 1)
	return runtime.DefaultUnstructuredConverter.ToUnstructured(&appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "job-" + job.Name, Namespace: job.Namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(min(parallel, ptr.Deref(job.Spec.Completions, parallel))),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: pods,
		},
	})
}
