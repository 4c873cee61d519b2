//go:build e2e

package existing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/e2e-framework/klient/decoder"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/clustertest"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
)

const kubernetesVersion = "v1.36.3"

// somebodys returns a cluster that the run does not own, and a registry for its nodes.
func somebodys(t *testing.T, bare bool) (*build.Cache, cluster.Options) {
	t.Helper()
	g := NewWithT(t)
	cache, err := build.Open(func(step string) { t.Log(step) })
	g.Expect(err).NotTo(HaveOccurred())
	c, err := local.Start(t.Context(), cache, cluster.Options{
		Name: "somebodys-" + rand.String(5), Kubernetes: kubernetesVersion, Logs: t.TempDir(), Bare: bare,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(c.Close(context.WithoutCancel(t.Context()))).To(Succeed()) })
	clustertest.Settled(t, c.Config())
	return cache, cluster.Options{
		Kubeconfig: c.Kubeconfig(), Registry: clustertest.Registry(t),
		Logs: filepath.Join(t.TempDir(), "logs"), Progress: func(step string) { t.Log(step) },
	}
}

// create creates the objects of a manifest.
func (c *clients) create(t *testing.T, manifest string) {
	t.Helper()
	g := NewWithT(t)
	client, err := resources.New(c.config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(decoder.DecodeEach(t.Context(), strings.NewReader(manifest), decoder.CreateHandler(client))).To(Succeed())
}

func TestWhatEveryBackendDoes(t *testing.T) {
	cache, o := somebodys(t, true)
	clustertest.Verify(t, clustertest.Backend{
		Kubernetes: kubernetesVersion, Kubeconfig: o.Kubeconfig, Registry: o.Registry,
		Start: func(ctx context.Context, o cluster.Options) (cluster.Cluster, error) { return Start(ctx, cache, o) },
	})
}

// others holds objects of a user, among them a DaemonSet that runs on every node.
const others = `
apiVersion: v1
kind: Namespace
metadata: {name: others}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: others, labels: {team: blue}}
data: {colour: blue}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: others}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: none}]
      affinity: # the one node that there is doesn't run it
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [plumbline-host]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: others}
spec:
  replicas: 0
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: none}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: karpenter-readers}
rules: [{apiGroups: [karpenter.sh], resources: [nodepools], verbs: [get]}]
`

func TestWhatIsOthersStaysAsItWas(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	cache, o := somebodys(t, true)
	c, err := connect(o.Kubeconfig)
	g.Expect(err).NotTo(HaveOccurred())
	c.create(t, others)
	agents := c.typed.AppsV1().DaemonSets("others")
	settled := func() (int64, error) {
		agent, err := agents.Get(ctx, "agent", metav1.GetOptions{})
		return agent.Status.ObservedGeneration, err
	}
	g.Eventually(settled, "10s", "50ms").Should(BeEquivalentTo(1))
	before := clustertest.Everything(t, c.config)
	g.Expect(before).To(HaveKey("configmaps others/settings"))

	g.Expect(Check(ctx, o, "")).To(Succeed())
	g.Expect(Prepare(ctx, cache, o)).To(Succeed())
	g.Eventually(func() []string {
		return clustertest.Differences(before, clustertest.Everything(t, c.config))
	}, "10s", "100ms").Should(BeEmpty(), "looking leaves nothing behind")

	up, err := Start(ctx, cache, o)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = up.Close(context.WithoutCancel(ctx)) })
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "fake", Annotations: map[string]string{fakeNode: "fake"},
		Labels:     map[string]string{corev1.LabelHostname: "fake"},
		Finalizers: []string{"karpenter.sh/termination"}, // no controller removes it
	}}
	_, err = c.typed.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (int32, error) {
		agent, err := agents.Get(ctx, "agent", metav1.GetOptions{})
		return agent.Status.NumberReady, err
	}, "30s", "50ms").Should(BeEquivalentTo(1), "others' daemons do run on fake nodes")

	// This node is gone before the end, as those of specs are, but its DaemonSet's pod stays.
	node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "gone", Annotations: map[string]string{fakeNode: "fake"},
		Labels: map[string]string{corev1.LabelHostname: "gone"}, // KWOK passes over a node that has no label at all
	}}
	_, err = c.typed.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (int32, error) {
		agent, err := agents.Get(ctx, "agent", metav1.GetOptions{})
		return agent.Status.NumberReady, err
	}, "30s", "50ms").Should(BeEquivalentTo(2))
	g.Expect(c.typed.CoreV1().Nodes().Delete(ctx, "gone", metav1.DeleteOptions{})).To(Succeed())

	g.Expect(up.Close(ctx)).To(Succeed())
	g.Expect(filepath.Glob(filepath.Join(o.Logs, "plumbline-system_kwok-controller-*.log"))).NotTo(BeEmpty())
	g.Eventually(func() []string {
		return clustertest.Differences(before, clustertest.Everything(t, c.config))
	}, "10s", "100ms").Should(BeEmpty())
}

// inTheWay holds objects of another Karpenter, another KWOK, and a pending pod.
const inTheWay = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodepools.karpenter.sh, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: karpenter.sh
  scope: Cluster
  names: {plural: nodepools, kind: NodePool}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system, labels: {app.kubernetes.io/name: karpenter}}
spec:
  replicas: 0
  selector: {matchLabels: {app: karpenter}}
  template:
    metadata: {labels: {app: karpenter}}
    spec: {containers: [{name: controller, image: none}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: fakes, namespace: kube-system}
spec:
  replicas: 0
  selector: {matchLabels: {app: fakes}}
  template:
    metadata: {labels: {app: fakes}}
    spec: {containers: [{name: kwok, image: "registry.example/kwok/kwok:v0.1.0"}]}
---
apiVersion: v1
kind: Node
metadata: {name: theirs, annotations: {kwok.x-k8s.io/node: fake}}
spec: {unschedulable: true}
---
apiVersion: v1
kind: Pod
metadata: {name: waiting, namespace: default}
spec: {containers: [{name: c, image: none}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: plumbline}
`

func TestAllThatIsInTheWayIsSaidTogether(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	cache, o := somebodys(t, true)
	c, err := connect(o.Kubeconfig)
	g.Expect(err).NotTo(HaveOccurred())
	c.create(t, inTheWay)
	g.Eventually(func() []error { return c.pendingPods(ctx) }, "10s", "50ms").ShouldNot(BeEmpty())

	cordoned := []byte(`{"spec":{"unschedulable":true}}`)
	_, err = c.typed.CoreV1().Nodes().Patch(ctx, "plumbline-host", types.MergePatchType, cordoned, metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	limited := o
	limited.Kubeconfig, limited.Registry = c.viewer(t), ""
	err = Check(ctx, limited, "oci:build/karpenter")
	t.Log(err)
	g.Expect(err).To(MatchError(And(
		ContainSubstring("the cluster https://127.0.0.1:"),
		ContainSubstring("\n    create, delete, patch customresourcedefinitions.apiextensions.k8s.io"),
		ContainSubstring("\n    create pods/eviction in namespace plumbline"),
		ContainSubstring("another Karpenter is there: CRD nodepools.karpenter.sh"),
		ContainSubstring("another Karpenter is there: Deployment karpenter in namespace kube-system"),
		ContainSubstring("another KWOK is there: Deployment fakes in namespace kube-system"),
		ContainSubstring("node theirs is a fake node of another KWOK"),
		ContainSubstring("pod waiting in namespace default waits for a node"),
		ContainSubstring("none of its 2 nodes is Ready and takes pods"),
		ContainSubstring("can't pull the image oci:build/karpenter"),
		Not(ContainSubstring("list")), // this verb is allowed
	)))
	g.Expect(Prepare(ctx, cache, limited)).To(MatchError(ContainSubstring("Namespace plumbline-system would be refused")))
	g.Expect(Prepare(ctx, cache, o)).
		To(MatchError(ContainSubstring("Namespace plumbline exists already and was not created by plumbline")))
}

// viewer returns a kubeconfig of a user who may only read.
func (c *clients) viewer(t *testing.T) (kubeconfig string) {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "viewer", Namespace: "default"}}
	_, err := c.typed.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"*"}, Resources: []string{"*"},
			Verbs: []string{"get", "list", "watch"},
		}},
	}
	_, err = c.typed.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.typed.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "viewer"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "viewer", Namespace: "default"}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	token, err := c.typed.CoreV1().ServiceAccounts("default").
		CreateToken(ctx, "viewer", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(t.TempDir(), "viewer")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
		clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}],
		users: [{name: u, user: {token: %q}}]}`, c.config.Host, token.Status.Token)
	g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	_, err = clientcmd.LoadFromFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	return file
}

// A KWOK outside of the cluster leaves no objects in it.
func TestAKWOKFromOutsideIsFound(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, o := somebodys(t, false)
	g.Expect(Check(ctx, o, "")).To(MatchError(ContainSubstring("a KWOK outside of the cluster manages its fake nodes")))
	c, err := connect(o.Kubeconfig)
	g.Expect(err).NotTo(HaveOccurred())
	nodes, err := c.typed.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(nodes.Items).To(HaveLen(1), "the node that tried it is gone")
}

func TestWhatADeadRunLeftIsRemoved(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	cache, o := somebodys(t, true)
	c, err := connect(o.Kubeconfig)
	g.Expect(err).NotTo(HaveOccurred())
	before := clustertest.Everything(t, c.config)
	g.Expect(Reap(ctx, o.Kubeconfig)).To(BeEmpty(), "nothing was there")

	up, err := Start(ctx, cache, o)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = Reap(ctx, o.Kubeconfig)
	g.Expect(err).To(MatchError(ContainSubstring("another run uses it: process " + fmt.Sprint(os.Getpid()))))

	// The run dies: nothing renews its lease, and nothing removes its objects.
	e, is := up.(*existing)
	g.Expect(is).To(BeTrue())
	e.release()
	e.stop()
	c.create(t, strings.Replace(strings.SplitN(inTheWay, "---", 2)[0], "{name: nodepools.karpenter.sh,",
		`{name: nodepools.karpenter.sh, labels: {`+cluster.OwnerLabel+`: "true"},`, 1))
	pools := c.dynamic.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"})
	stuck := []byte(
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"stuck","finalizers":["karpenter.sh/termination"]}}`)
	g.Eventually(func() error {
		_, err := pools.Patch(ctx, "stuck", types.ApplyPatchType, stuck, metav1.PatchOptions{FieldManager: "test"})
		return err
	}, "10s", "100ms").Should(Succeed())
	g.Expect(Check(ctx, o, "")).To(MatchError(errLeft))
	_, err = Start(ctx, cache, o)
	g.Expect(err).To(MatchError(ContainSubstring("make clean-existing")))

	began := time.Now()
	g.Expect(Reap(ctx, o.Kubeconfig)).To(ConsistOf(c.config.Host))
	t.Logf("removed in %s", time.Since(began).Round(time.Second/10))
	g.Expect(clustertest.Differences(before, clustertest.Everything(t, c.config))).To(BeEmpty())
	g.Expect(Reap(ctx, o.Kubeconfig)).To(BeEmpty(), "twice")
}
