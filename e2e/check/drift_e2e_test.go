//go:build e2e

package check

import (
	"context"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const driftPool = `{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: drift},
  spec: {
    template: {
      metadata: {labels: {plumbline: one}},
      spec: {
        nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default},
        requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}},
    limits: {cpu: "24"},
    disruption: {budgets: [{nodes: "2"}], consolidateAfter: Never}}}`

const driftApp = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: drifter, namespace: default},
  spec: {
    replicas: 6,
    selector: {matchLabels: {app: drifter}},
    template: {
      metadata: {labels: {app: drifter}},
      spec: {
        nodeSelector: {karpenter.sh/nodepool: drift},
        affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
          {labelSelector: {matchLabels: {app: drifter}}, topologyKey: kubernetes.io/hostname}]}},
        containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}}}}`

// TestDriftOnARealCluster records a drift on the cluster of $KUBECONFIG, and judges it. The
// cluster has Karpenter with the KWOK provider and a KWOKNodeClass "default". $SAVE_RECORDING
// also saves the recording, as for testdata/drift.jsonl.gz.
func TestDriftOnARealCluster(t *testing.T) {
	kubeconfig := os.Getenv("KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("$KUBECONFIG doesn't name a cluster")
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := history.Record(ctx, cfg, t.TempDir()+"/drift.jsonl",
		karpenter.Nodes, karpenter.Pods, karpenter.Events, karpenter.NodePools, karpenter.NodeClaims)
	if err != nil {
		t.Fatal(err)
	}
	pool, app := named("drift"), named("drifter")
	create(ctx, t, client.Resource(karpenter.NodePools), driftPool)
	create(ctx, t, client.Resource(karpenter.Deployments).Namespace("default"), driftApp)
	awaitCount(ctx, t, r, 6, RunningPods(app))

	before := r.History().Mark()
	patch := `{"spec":{"template":{"metadata":{"labels":{"plumbline":"two"}}}}}`
	if _, err := client.Resource(karpenter.NodePools).
		Patch(ctx, "drift", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitCount(ctx, t, r, 6, DriftedNodeClaims(pool))
	awaitCount(ctx, t, r, 0, NodeClaims(pool).Old(before))
	awaitCount(ctx, t, r, 6, RunningPods(app).On(ReplacedNodes(pool, before)))
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	h := r.History().Since(before)
	for name, c := range driftSpecs(pool, app, before) {
		if f := c.Judge(h); f.Verdict != Holds {
			t.Errorf("%s: %s", name, f)
		}
	}
	save(t, h)
}

func create(ctx context.Context, t *testing.T, client dynamic.ResourceInterface, manifest string) {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Create(ctx, &o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Delete(context.WithoutCancel(ctx), o.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func awaitCount(ctx context.Context, t *testing.T, r *history.Recorder, n int, c Count) {
	t.Helper()
	var there []*history.Object
	began := time.Now()
	err := r.Await(ctx, func(w *history.World) bool {
		there = c.Of(w)
		return len(there) == n
	})
	if err != nil {
		t.Fatalf("wanted %d %s: %v; there are%s", n, c.Name, err, lines(there))
	}
	t.Logf("%d %s after %s", n, c.Name, time.Since(began).Round(time.Millisecond))
}

func save(t *testing.T, h *history.History) {
	t.Helper()
	name := os.Getenv("SAVE_RECORDING")
	if name == "" {
		return
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := history.Save(f, h); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events, %d gaps", len(h.Events()), len(h.Gaps()))
}
