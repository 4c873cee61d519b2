package spread

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/rights"
)

// Check returns all that would keep the parts from running: missing rights, nodes of another architecture than that of
// the image or too small for a pod, and a quota that can't hold any.
func (r *Run) Check(ctx context.Context, arch string) error {
	missing, err := rights.Missing(ctx, r.client, r.rights()...)
	if err != nil {
		return err
	}
	var mistakes []error
	if len(missing) > 0 {
		mistakes = append(mistakes, fmt.Errorf("rights are missing:\n  %s", strings.Join(missing, "\n  ")))
	}
	return errors.Join(append(mistakes, r.checkNodes(ctx, arch), r.checkNamespace(ctx))...)
}

// rights are what a run needs.
func (r *Run) rights() []rights.Right {
	all := []rights.Right{
		{Verbs: "list", Resources: "nodes"},
		{Verbs: "get create list delete", Group: "batch", Resources: "jobs", Namespace: r.Namespace},
		{Verbs: "get list watch", Resources: "pods", Namespace: r.Namespace},
		{Verbs: "get", Resources: "pods/log", Namespace: r.Namespace},
		{Verbs: "create", Resources: "pods/exec", Namespace: r.Namespace},
		{Verbs: "get create update", Group: "coordination.k8s.io", Resources: "leases", Namespace: r.Namespace},
	}
	if r.Namespace == "" {
		return append(all, rights.Right{Verbs: "get create list delete", Resources: "namespaces"})
	}
	return append(all,
		rights.Right{Verbs: "get", Resources: "namespaces", Name: r.Namespace},
		rights.Right{Verbs: "list", Resources: "resourcequotas", Namespace: r.Namespace},
		rights.Right{Verbs: "delete", Group: "coordination.k8s.io", Resources: "leases", Namespace: r.Namespace})
}

// checkNodes says if no node that may take pods is of the architecture or has room for one. A cluster without nodes
// may get some.
func (r *Run) checkNodes(ctx context.Context, arch string) error {
	nodes, err := r.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return nil // among the missing rights
	}
	if err != nil {
		return err
	}
	others, fit, largest := map[string]bool{}, false, ""
	wanted := r.resources().Requests
	for _, n := range nodes.Items {
		closed := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
			return t.Effect != corev1.TaintEffectPreferNoSchedule
		})
		switch {
		case n.Status.NodeInfo.OperatingSystem != "linux" || n.Status.NodeInfo.Architecture != arch:
			others[n.Status.NodeInfo.OperatingSystem+"/"+n.Status.NodeInfo.Architecture] = true
		case n.Spec.Unschedulable || closed:
		case lacking(n.Status.Allocatable, wanted) == "":
			fit = true
		default:
			largest = fmt.Sprintf("node %s has %s", n.Name, lacking(n.Status.Allocatable, wanted))
		}
	}
	switch {
	case fit || len(nodes.Items) == 0:
		return nil
	case largest != "":
		return fmt.Errorf("a pod with PROCS=%d asks for %s, which no node has: %s", r.Workers, amounts(wanted), largest)
	case len(others) > 0:
		return fmt.Errorf("the image is for linux/%s, as this machine is, but the nodes that take pods are %s; run this "+
			"on a machine like them", arch, strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	default:
		return errors.New("no node takes pods: all are cordoned or have taints")
	}
}

// checkNamespace says if the given namespace isn't there, or if its quotas have no room for all pods.
func (r *Run) checkNamespace(ctx context.Context) error {
	if r.Namespace == "" {
		return nil
	}
	_, err := r.client.CoreV1().Namespaces().Get(ctx, r.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("NAMESPACE=%s: there is none of that name; leave it out, and the run makes one of its own",
			r.Namespace)
	}
	quotas, err2 := r.client.CoreV1().ResourceQuotas(r.Namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) || apierrors.IsForbidden(err2) {
		return nil // among the missing rights
	}
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	var mistakes []error
	for _, q := range quotas.Items {
		if short := r.shortOf(q); short != "" {
			mistakes = append(mistakes, fmt.Errorf("quota %s of namespace %s is too small for %d pods at once: %s; fewer "+
				"SHARDS or PROCS take less", q.Name, r.Namespace, r.Parts, short))
		}
	}
	return errors.Join(mistakes...)
}

// shortOf returns what a quota lacks for all pods; "" if nothing.
func (r *Run) shortOf(q corev1.ResourceQuota) string {
	each := r.resources()
	wanted := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(int64(r.Parts), resource.DecimalSI)}
	add := func(name corev1.ResourceName, amount resource.Quantity) {
		amount.Mul(int64(r.Parts))
		wanted[name] = amount
	}
	for name, amount := range each.Requests {
		add(name, amount)
		add("requests."+name, amount)
	}
	for name, amount := range each.Limits {
		add("limits."+name, amount)
	}
	left := corev1.ResourceList{}
	for name, hard := range q.Status.Hard {
		hard = hard.DeepCopy()
		hard.Sub(q.Status.Used[name])
		left[name] = hard
		if _, asked := wanted[name]; !asked {
			delete(left, name)
		}
	}
	for name := range wanted {
		if _, limited := left[name]; !limited {
			delete(wanted, name)
		}
	}
	return lacking(left, wanted)
}

// lacking says of which of the wanted resources there is less: "1 cpu of 2"; "" if of none.
func lacking(there, wanted corev1.ResourceList) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		has, wants := there[name], wanted[name]
		if has.Cmp(wants) < 0 {
			all = append(all, fmt.Sprintf("%s %s of %s", has.String(), name, wants.String()))
		}
	}
	return strings.Join(all, ", ")
}

func amounts(all corev1.ResourceList) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		amount := all[name]
		words = append(words, amount.String()+" "+string(name))
	}
	return strings.Join(words, " and ")
}
