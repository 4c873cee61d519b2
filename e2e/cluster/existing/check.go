package existing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/lease"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/rights"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// karpenterGroup is Karpenter's API group.
const karpenterGroup = "karpenter.sh"

// fakeNode is the annotation that marks KWOK's nodes.
const fakeNode = "kwok.x-k8s.io/node"

// errLeft reports leftovers of a dead run. Check then reports nothing else.
var errLeft = errors.New("a dead run has left things on the cluster: `make clean-existing` removes them")

// Check returns an error that lists all reasons why a run can't use the cluster, or nil. It
// creates a node to detect another KWOK and removes it at once; it changes nothing else. The
// image is the provider's, as the adapter or the user names it; it is empty if built here.
func Check(ctx context.Context, o cluster.Options, providerImage string) error {
	c, err := connect(o.Kubeconfig)
	if err != nil {
		return err
	}
	running := c.otherRun(ctx)
	if left, err := c.leftovers(ctx); err == nil && len(left) > 0 && len(running) == 0 {
		return errLeft
	}
	missing := append(c.missingRights(ctx, needed()...), running...)
	for _, check := range []func(context.Context) []error{
		c.foreignKarpenter, c.foreignKWOK, c.pendingPods, c.noNodes,
		func(context.Context) []error { return unpullable(o.Registry, providerImage) },
	} {
		missing = append(missing, check(ctx)...)
	}
	return c.unfit(missing)
}

// unfit joins the errors into one with the name of the cluster; nil if there are none.
func (c *clients) unfit(missing []error) error {
	if len(missing) == 0 {
		return nil
	}
	all := strings.ReplaceAll(errors.Join(missing...).Error(), "\n", "\n  ")
	return fmt.Errorf("the cluster %s can't be used as it is:\n  %s", c.config.Host, all)
}

// needed returns what the harness itself needs. Rights for the provider's objects, and for the
// roles that it grants, are checked when these objects are tried.
func needed() []rights.Right {
	return []rights.Right{
		{Verbs: "create get list patch delete", Resources: "namespaces"},
		{Verbs: "create get list watch patch delete", Resources: "nodes"},
		{Verbs: "patch", Resources: "nodes/status"},
		{Verbs: "get list watch delete", Resources: "pods"},
		{Verbs: "get list watch", Resources: "events"},
		{Verbs: "create patch deletecollection", Resources: "pods", Namespace: specsNamespace},
		{Verbs: "create", Resources: "pods/eviction", Namespace: specsNamespace},
		{Verbs: "get", Resources: "pods/log", Namespace: systemNamespace},
		{Verbs: "get", Resources: "pods/log", Namespace: ProviderNamespace},
		{Verbs: "get", Resources: "pods/proxy", Namespace: ProviderNamespace},
		{Verbs: "create get update", Group: "coordination.k8s.io", Resources: "leases", Namespace: systemNamespace},
		{Verbs: "create patch list delete", Resources: "configmaps services serviceaccounts persistentvolumeclaims"},
		{Verbs: "create patch list delete", Resources: "persistentvolumes"},
		{Verbs: "create patch list delete", Group: "apps", Resources: "deployments replicasets daemonsets statefulsets"},
		{Verbs: "list watch create patch delete", Group: "policy", Resources: "poddisruptionbudgets"},
		{Verbs: "create patch list delete", Group: "scheduling.k8s.io", Resources: "priorityclasses"},
		{Verbs: "create patch list delete", Group: "storage.k8s.io", Resources: "storageclasses"},
		{
			Verbs: "create patch list delete", Group: "rbac.authorization.k8s.io",
			Resources: "clusterroles clusterrolebindings roles rolebindings",
		},
		{Verbs: "create get list watch patch delete", Group: "apiextensions.k8s.io", Resources: "customresourcedefinitions"},
		{
			Verbs: "create get list watch patch delete deletecollection", Group: karpenterGroup,
			Resources: "nodepools nodeclaims",
		},
	}
}

// missingRights returns an error that lists the rights that the API server denies.
func (c *clients) missingRights(ctx context.Context, needed ...rights.Right) []error {
	lines, err := rights.Missing(ctx, c.typed, needed...)
	switch {
	case err != nil:
		return []error{err}
	case len(lines) > 0:
		all := strings.Join(lines, "\n  ")
		return []error{fmt.Errorf("rights are missing, all of which cluster-admin has:\n  %s", all)}
	default:
		return nil
	}
}

// otherRun returns an error if another run uses the cluster.
func (c *clients) otherRun(ctx context.Context) []error {
	who, err := lease.Holder(ctx, c.typed.CoordinationV1(), systemNamespace, lease.Name)
	switch {
	case err != nil:
		return []error{err}
	case who != "":
		return []error{fmt.Errorf("another run uses it: %s", who)}
	}
	return nil
}

// isOwned reports whether a run of the harness made the object.
func isOwned(o metav1.Object) bool { _, is := o.GetLabels()[cluster.OwnerLabel]; return is }

// foreignKarpenter lists objects of another Karpenter. Both would manage every NodePool.
func (c *clients) foreignKarpenter(ctx context.Context) []error {
	var found []error
	crds, err := c.dynamic.Resource(cluster.CRDs).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []error{err}
	}
	for _, crd := range crds.Items {
		if strings.HasSuffix(crd.GetName(), "."+karpenterGroup) && !isOwned(&crd) {
			found = append(found, fmt.Errorf("another Karpenter is there: CRD %s", crd.GetName()))
		}
	}
	deployments, err := c.typed.AppsV1().Deployments(metav1.NamespaceAll).
		List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=karpenter"})
	if err != nil {
		return append(found, err)
	}
	for _, d := range deployments.Items {
		if !isOwned(&d) {
			found = append(found, fmt.Errorf("another Karpenter is there: Deployment %s in namespace %s", d.Name, d.Namespace))
		}
	}
	return found
}

// foreignKWOK lists signs of another KWOK. Both would simulate every fake node.
func (c *clients) foreignKWOK(ctx context.Context) []error {
	var found []error
	deployments, err := c.typed.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []error{err}
	}
	for _, d := range deployments.Items {
		runs := slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
			return strings.Contains(c.Image, "/kwok:")
		})
		if runs && !isOwned(&d) {
			found = append(found, fmt.Errorf("another KWOK is there: Deployment %s in namespace %s", d.Name, d.Namespace))
		}
	}
	nodes, err := c.typed.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return append(found, err)
	}
	for _, n := range nodes.Items {
		if _, fake := n.Annotations[fakeNode]; fake {
			found = append(found, fmt.Errorf("node %s is a fake node of another KWOK", n.Name))
		}
	}
	if len(found) == 0 && len(c.missingRights(ctx, rights.Right{Verbs: "create get delete", Resources: "nodes"})) == 0 {
		played, err := c.playsNodes(ctx)
		if err != nil {
			return []error{err}
		}
		if played {
			found = append(found, errors.New("a KWOK outside of the cluster manages its fake nodes: "+
				"it updated a test node with the annotation "+fakeNode+"=fake"))
		}
	}
	return found
}

// playsSoon is how long playsNodes waits. KWOK updates a node as soon as it sees it.
const (
	probe     = "plumbline-probe"
	playsSoon = 3 * time.Second
	poll      = 250 * time.Millisecond
)

// playsNodes reports whether another KWOK simulates fake nodes. It creates one to find out.
func (c *clients) playsNodes(ctx context.Context) (played bool, err error) {
	nodes := c.typed.CoreV1().Nodes()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: probe, Annotations: map[string]string{fakeNode: "fake"}}}
	node.Spec.Unschedulable = true
	cluster.Own(node)
	if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return false, fmt.Errorf("trying whether KWOK is there: %w", err)
	}
	defer func() { err = errors.Join(err, c.removeNodes(context.WithoutCancel(ctx))) }()
	err = wait.PollUntilContextTimeout(ctx, poll, playsSoon, false, func(ctx context.Context) (bool, error) {
		node, err := nodes.Get(ctx, probe, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		played = node.Status.NodeInfo.KubeletVersion != ""
		return played, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		err = nil
	}
	return played, err
}

// pendingPods lists pods for which the provider would launch nodes, except DaemonSets' pods.
func (c *clients) pendingPods(ctx context.Context) []error {
	pods, err := c.typed.CoreV1().Pods(metav1.NamespaceAll).
		List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Pending,spec.nodeName="})
	if err != nil {
		return []error{err}
	}
	var found []error
	for _, p := range pods.Items {
		waits := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
		})
		daemon := metav1.GetControllerOf(&p) != nil && metav1.GetControllerOf(&p).Kind == "DaemonSet"
		if waits && !daemon && p.DeletionTimestamp == nil && !slices.Contains(ownNamespaces(), p.Namespace) {
			found = append(found, fmt.Errorf(
				"pod %s in namespace %s waits for a node: the provider would launch a fake one for it", p.Name, p.Namespace))
		}
	}
	return found
}

// noNodes returns an error if no real node takes pods: KWOK and the provider need one.
func (c *clients) noNodes(ctx context.Context) []error {
	nodes, err := c.typed.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return []error{err}
	}
	for _, n := range nodes.Items {
		ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		if ready && !n.Spec.Unschedulable {
			return nil
		}
	}
	return []error{fmt.Errorf("none of its %d nodes is Ready and takes pods: KWOK and the provider need one",
		len(nodes.Items))}
}

// unpullable returns an error if nodes can't pull the provider's image from a registry.
func unpullable(registry, providerImage string) []error {
	switch {
	case registry != "":
		if err := image.MayPush(registry); err != nil {
			return []error{fmt.Errorf("REGISTRY=%s: %w", registry, err)}
		}
	case providerImage == "":
		return []error{errors.New("the controller is built here, and the cluster's nodes can't pull it: set a registry " +
			"that this machine can push to, as in REGISTRY=registry.example/team; or IMAGE=<an image in a registry>")}
	case !image.InRegistry(providerImage):
		return []error{fmt.Errorf("the cluster's nodes can't pull the image %s: set a registry that this machine "+
			"can push to, as in REGISTRY=registry.example/team", providerImage)}
	}
	return nil
}

// Try checks, without storing anything, that the cluster would accept all of these objects,
// and that none of them exists and is foreign.
func Try(ctx context.Context, kubeconfig string, objects []*unstructured.Unstructured) error {
	c, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	mapper, err := c.mapper()
	if err != nil {
		return err
	}
	var missing []error
	for _, o := range objects {
		mapping, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			missing = append(missing, fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err))
			continue
		}
		named := located{o, mapping}
		resource := c.resource(mapping, o.GetNamespace())
		_, err = resource.Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		switch {
		case err == nil, apierrors.IsNotFound(err): // its namespace is created later
		case apierrors.IsAlreadyExists(err):
			there, err := resource.Get(ctx, o.GetName(), metav1.GetOptions{})
			if err == nil && isOwned(there) {
				continue
			}
			missing = append(missing, fmt.Errorf("%s exists already and was not created by plumbline", named))
		default:
			missing = append(missing, fmt.Errorf("%s would be refused: %w", named, err))
		}
	}
	return c.unfit(missing)
}
