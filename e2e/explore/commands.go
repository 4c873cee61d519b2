package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Commands returns the sequence as a shell script of kubectl commands, for a cluster with the adapter's provider and no
// other nodes of Karpenter's. What needs the cloud or the controller's process is a comment.
func (s Sequence) Commands(a *providers.Adapter) (string, error) {
	var b strings.Builder
	b.WriteString("#!/bin/sh -eu\n")
	class := a.NodeClassObject("plumbline")
	classes := []*unstructured.Unstructured{class}
	if slices.ContainsFunc(s.Actions, Action.NeedsAnotherNodeClass) {
		classes = append(classes, a.NodeClassObject(env.AnotherNodeClass))
	}
	for _, c := range classes {
		if err := applied(&b, c); err != nil {
			return "", err
		}
	}
	gvk := class.GroupVersionKind()
	ref := map[string]any{"group": gvk.Group, "kind": gvk.Kind, "name": class.GetName()}
	for _, action := range s.Actions {
		fmt.Fprintf(&b, "\n# %s\n", action)
		switch action.Do {
		case Apply:
			o, own := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(action.Object)}, maps.Clone(ref)
			if name, named, _ := unstructured.NestedString(o.Object, nodeClassName...); named {
				own["name"] = name
			}
			if err := env.AddDefaults(a, o, own); err != nil {
				return "", err
			}
			if err := applied(&b, o); err != nil {
				return "", err
			}
		case Delete, DeleteInForeground:
			o, cascade := action.object(), ""
			if action.Do == DeleteInForeground {
				cascade = "--cascade=foreground "
			}
			fmt.Fprintf(&b, "kubectl delete --ignore-not-found --wait=false %s%s/%s\n", cascade,
				strings.ToLower(o.GetKind()), o.GetName())
		default:
			b.WriteString(action.command())
		}
		if action.Then.Duration > 0 {
			fmt.Fprintf(&b, "sleep %.0f\n", action.Then.Seconds())
		}
	}
	return b.String(), nil
}

func applied(b *strings.Builder, o *unstructured.Unstructured) error {
	text, err := yaml.Marshal(o.Object)
	fmt.Fprintf(b, "kubectl apply --server-side --force-conflicts -f - <<'END'\n%sEND\n", text)
	return err
}

// command returns the command of an action without an object.
func (a Action) command() string {
	node := fmt.Sprintf(`"$(kubectl get nodes -l %s --sort-by=.metadata.creationTimestamp -o name | sed -n %dp)"`,
		karpenter.NodePoolLabel, a.Node+1)
	switch a.Do {
	case DeleteNode:
		return "kubectl delete --wait=false " + node + "\n"
	case DeleteNodeClaim:
		return fmt.Sprintf("kubectl delete --wait=false \"$(kubectl get nodeclaims --sort-by=.metadata.creationTimestamp "+
			"-o name | sed -n %dp)\"\n", a.Node+1)
	case TaintNode:
		return fmt.Sprintf("kubectl taint %s %s:NoSchedule\n", node, userTaint)
	case ProtectNode:
		return fmt.Sprintf("kubectl annotate %s %s=true\n", node, karpenter.DoNotDisruptAnnotation)
	case StartAgents:
		return fmt.Sprintf("kubectl taint nodes --all %s- || true\n", StartupTaint)
	default:
		return ""
	}
}
