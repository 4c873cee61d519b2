package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// redactor replaces the strings of objects by hashes, so that a recording can be shown to others. What refers to
// the same thing still does: equal strings have equal hashes. Kept are only strings that are known to tell nothing:
// enums, times, quantities, UIDs, API groups and kinds, and the labels of Kubernetes, Karpenter and clouds. Dropped
// are environments, arguments, commands, probes, the texts of messages, managed fields, and the annotations of
// all but Karpenter's objects, if they aren't Karpenter's.
//
// The hash is keyed, so that nobody can find a name by trying. The key comes from the cluster and is written
// nowhere; a later recording of the same cluster has the same hashes.
type redactor struct{ key []byte }

// dropped are the fields that are left out, wherever they are.
var dropped = []string{
	"env", "envFrom", "args", "command", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe", "managedFields",
	"securityContext", "userData",
}

// kept are the fields whose strings stay: enums, times, durations and versions.
var kept = []string{
	// of every object
	"apiVersion", "kind", "uid", "resourceVersion", "group", "version", "creationTimestamp", "deletionTimestamp",
	"status", "reason", "phase", "lastTransitionTime", "lastProbeTime", "lastHeartbeatTime", "observedGeneration",
	// of Events
	"action", "firstTimestamp", "lastTimestamp", "eventTime",
	// of pods
	"effect", "operator", "restartPolicy", "preemptionPolicy", "qosClass", "protocol", "whenUnsatisfiable",
	"nodeAffinityPolicy", "nodeTaintsPolicy", "startTime", "startedAt", "finishedAt", "resizePolicy", "accessModes",
	"storage", "medium", "sizeLimit",
	// of PodDisruptionBudgets
	"maxUnavailable", "minAvailable", "unhealthyPodEvictionPolicy",
	// of nodes
	"architecture", "operatingSystem", "kubeletVersion", "containerRuntimeVersion", "timeAdded",
	// of NodePools and NodeClaims
	"consolidationPolicy", "consolidateAfter", "expireAfter", "terminationGracePeriod", "nodes", "schedule", "duration",
	"reasons", "weight",
}

// quantities are the fields whose keys name resources, and whose values are quantities. Of some objects, resources
// is an object of such fields.
var quantities = []string{
	"requests", "limits", "capacity", "allocatable", "overhead", "resources", "allocatedResources",
}

// labelMaps are the fields whose keys are labels, annotations, or else what somebody chose.
var labelMaps = []string{"labels", "annotations", "matchLabels", "nodeSelector", "volumeAttributes", "options"}

// plain are strings that tell nothing, wherever they are.
var plain = []string{
	"", "true", "false", "True", "False", "Unknown", "default", "kube-system", "default-scheduler",
	"system-node-critical", "system-cluster-critical", "karpenter", "kubelet", "plumbline",
}

// publicDomains are those of label keys that stay, in requirements, taints and selectors as well.
var publicDomains = []string{
	"kubernetes.io", "k8s.io", "karpenter.sh", "k8s.aws", "amazonaws.com", "azure.com", "google.com", "nvidia.com",
	"karpenter.kwok.sh",
}

// publicLabels are beginnings of label keys whose values stay as well.
var publicLabels = []string{
	"topology.kubernetes.io/", "kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type",
	"node.kubernetes.io/windows-build", "karpenter.sh/capacity-type", "karpenter.sh/nodepool-hash",
	"karpenter.sh/nodeclaim-termination-timestamp", "karpenter.sh/do-not-disrupt", "karpenter.sh/disruption-cost",
	"karpenter.k8s.aws/instance-", "karpenter.azure.com/sku-", "karpenter.kwok.sh/instance-", "kwok.x-k8s.io/node",
}

// rewrite is a history.Rewrite.
func (r *redactor) rewrite(kind schema.GroupVersionResource, raw []byte) ([]byte, error) {
	object := map[string]any{}
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	// Those of a NodePool's template come back in its NodeClaims, so there they are replaced, like labels.
	if metadata, is := object["metadata"].(map[string]any); is && kind.Group != karpenter.Group {
		if annotations, are := metadata["annotations"].(map[string]any); are {
			maps.DeleteFunc(annotations, func(key string, _ any) bool { return !publicAnnotation(key) })
		}
	}
	r.object(object)
	if isNodeClass(kind) {
		for _, part := range []string{"spec", "status"} {
			if value, there := object[part]; there {
				object[part] = r.hideKeys(value)
			}
		}
	}
	return json.Marshal(object)
}

// isNodeClass reports whether a kind is one of a provider's, whose fields nobody here knows.
func isNodeClass(kind schema.GroupVersionResource) bool {
	return !slices.ContainsFunc(slices.Concat(always, ifServed), func(known schema.GroupVersionResource) bool {
		return known.Group == kind.Group
	})
}

// hideKeys replaces the keys of all maps of plain values, since they may be a company's, such as those of tags.
func (r *redactor) hideKeys(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = r.hideKeys(v[i])
		}
	case map[string]any:
		if isFlat(v) {
			return r.withKeys(v, func(key any) any { return r.hash(key.(string)) })
		}
		for field := range v {
			if field != "conditions" {
				v[field] = r.hideKeys(v[field])
			}
		}
	}
	return value
}

// withKeys returns a map with other keys.
func (r *redactor) withKeys(all map[string]any, other func(any) any) map[string]any {
	renamed := map[string]any{}
	for key, value := range all {
		if name, isText := other(key).(string); isText {
			renamed[name] = value
		}
	}
	return renamed
}

func (r *redactor) object(o map[string]any) {
	label, isPair := o["key"].(string) // of a requirement, taint, toleration or selector
	for field, value := range o {
		switch {
		case slices.Contains(dropped, field):
			delete(o, field)
		case field == "message":
			o[field] = r.message(value) // a condition without one would be malformed
		case slices.Contains(quantities, field) && isFlat(value):
			o[field] = r.quantities(value)
		case slices.Contains(labelMaps, field) && isFlat(value):
			o[field] = r.labels(value)
		case isPair && field == "key", field == "topologyKey":
			o[field] = r.labelKey(value)
		case field == "type" || field == "conditionType":
			o[field] = r.typeName(value)
		case isPair && (field == "value" || field == "values"):
			o[field] = r.labelValue(label, value)
		case field == "finalizers" || field == "matchLabelKeys":
			o[field] = each(value, r.labelKey)
		case slices.Contains(kept, field):
			o[field] = r.keep(value)
		default:
			o[field] = r.value(value)
		}
	}
}

// value replaces the strings in a value.
func (r *redactor) value(value any) any {
	switch v := value.(type) {
	case string:
		return r.hash(v)
	case map[string]any:
		r.object(v)
	case []any:
		for i := range v {
			v[i] = r.value(v[i])
		}
	}
	return value
}

// named finds what a message names, such as nodeclaim/default-7x2kq: for which NodeClaim a pod is meant.
var named = regexp.MustCompile(`\b(nodeclaim|node)/([^\s,]+)`)

// message leaves of a message only what it names.
func (r *redactor) message(value any) any {
	text, _ := value.(string)
	var names []string
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1]+"/"+r.hash(m[2]))
	}
	return strings.Join(names, ", ")
}

// keep leaves strings as they are, and replaces those in objects.
func (r *redactor) keep(value any) any {
	switch v := value.(type) {
	case map[string]any:
		r.object(v)
	case []any:
		for i := range v {
			v[i] = r.keep(v[i])
		}
	}
	return value
}

// quantities replaces the names of resources that are a company's own.
func (r *redactor) quantities(value any) any {
	all, _ := value.(map[string]any)
	return r.withKeys(all, r.typeName)
}

func (r *redactor) labels(value any) any {
	all := map[string]any{}
	for key, value := range value.(map[string]any) {
		if name, isText := r.labelKey(key).(string); isText {
			all[name] = r.labelValue(key, value)
		}
	}
	return all
}

// publicAnnotation reports whether an annotation is Karpenter's, KWOK's, or one that Karpenter reads.
func publicAnnotation(key string) bool {
	return strings.HasPrefix(key, "karpenter.") || strings.HasPrefix(key, "kwok.x-k8s.io/") ||
		key == "controller.kubernetes.io/pod-deletion-cost"
}

// typeName replaces the name of a type that somebody made: it has a domain.
func (r *redactor) typeName(name any) any {
	if text, isText := name.(string); !isText || !strings.Contains(text, "/") {
		return name
	}
	return r.labelKey(name)
}

// labelKey replaces the key of a label, unless its domain is public.
func (r *redactor) labelKey(key any) any {
	k, isText := key.(string)
	domain, _, qualified := strings.Cut(k, "/")
	if !isText || qualified && isPublic(domain) {
		return key
	}
	return r.hash(k)
}

func isPublic(domain string) bool {
	return slices.ContainsFunc(publicDomains, func(public string) bool {
		return domain == public || strings.HasSuffix(domain, "."+public)
	})
}

// labelValue replaces the value of a label, or several, unless the label's values are public, or it is a number.
func (r *redactor) labelValue(key string, value any) any {
	if slices.ContainsFunc(publicLabels, func(public string) bool { return strings.HasPrefix(key, public) }) {
		return value
	}
	return each(value, func(v any) any {
		text, isText := v.(string)
		if _, err := strconv.Atoi(text); !isText || err == nil {
			return v
		}
		return r.hash(text)
	})
}

// each applies f to a value, or to each in a list.
func each(value any, f func(any) any) any {
	all, isList := value.([]any)
	if !isList {
		return f(value)
	}
	for i := range all {
		all[i] = f(all[i])
	}
	return all
}

// isFlat reports whether a value is a map of keys to plain values.
func isFlat(value any) bool {
	all, is := value.(map[string]any)
	for _, v := range all {
		switch v.(type) {
		case map[string]any, []any:
			return false
		}
	}
	return is
}

// hash returns what stands for a string: twelve hexadecimal digits after an r, which may be a name in Kubernetes.
func (r *redactor) hash(text string) string {
	if slices.Contains(plain, text) {
		return text
	}
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(text))
	return "r" + hex.EncodeToString(mac.Sum(nil)[:6])
}
