package core

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
)

func TestConsolidateAfterIsMisread(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"consolidates-at-once":       {"10m": "0s", "Never": "Never"},
		"consolidates-what-never-is": {"10m": "10m", "Never": "0s"},
	} {
		for set, read := range want {
			p := pool()
			p.Spec.Disruption.ConsolidateAfter = v1.MustParseNillableDuration(set)
			honest := fake.NewClientBuilder().WithObjects(p).Build()
			ctx := injection.WithControllerName(t.Context(), marking)
			var misread v1.NodePool
			if err := Lies()[name].Client(honest).Get(ctx, client.ObjectKey{Name: "pool"}, &misread); err != nil {
				t.Fatal(err)
			}
			want := v1.MustParseNillableDuration(read)
			if got := misread.Spec.Disruption.ConsolidateAfter; (got.Duration == nil) != (want.Duration == nil) ||
				got.Duration != nil && *got.Duration != *want.Duration {
				t.Errorf("%s: %s is read as %v, want %s", name, set, got.Duration, read)
			}
		}
	}
}

func TestNeighboursGoToo(t *testing.T) {
	claims := []*v1.NodeClaim{claim("Never"), claim("Never"), claim("Never")}
	claims[1].Name = "neighbour"
	claims[2].Name, claims[2].Labels = "stranger", nil
	honest := fake.NewClientBuilder().WithObjects(claims[0], claims[1], claims[2]).Build()

	if err := Lies()["takes-the-neighbours-too"].Client(honest).
		Delete(injection.WithControllerName(t.Context(), replacing), claims[0]); err != nil {
		t.Fatal(err)
	}
	var left v1.NodeClaimList
	if err := honest.List(t.Context(), &left); err != nil {
		t.Fatal(err)
	}
	if len(left.Items) != 1 || left.Items[0].Name != "stranger" {
		t.Errorf("%d NodeClaims are left, want that of no pool alone", len(left.Items))
	}
}

func TestReplacementsAreOfTheSameType(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{
		v1.NodePoolLabelKey: "pool", corev1.LabelInstanceTypeStable: "large",
	}}}
	honest := fake.NewClientBuilder().WithObjects(node).Build()
	c := claim("Never")
	c.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"small"}},
	}
	if err := Lies()["replaces-by-the-same-type"].Client(honest).
		Create(injection.WithControllerName(t.Context(), disrupting), c); err != nil {
		t.Fatal(err)
	}
	if got := c.Spec.Requirements[0].Values; len(got) != 1 || got[0] != "large" {
		t.Errorf("the replacement may be one of %v, want the node's own type", got)
	}
}

// TestPodsAreMisread uses a DaemonSet's pod with anti-affinity, and a pod without an owner.
func TestPodsAreMisread(t *testing.T) {
	daemon := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "daemon", OwnerReferences: []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "DaemonSet", Name: "daemons", UID: "1",
	}}}}
	daemon.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
	honest := fake.NewClientBuilder().
		WithObjects(daemon, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "alone"}}).Build()
	for name, misread := range map[string]func(daemon, alone corev1.Pod) bool{
		"takes-daemons-for-work": func(daemon, _ corev1.Pod) bool { return daemon.OwnerReferences == nil },
		"overlooks-exclusions":   func(daemon, _ corev1.Pod) bool { return daemon.Spec.Affinity == nil },
		"spares-pods-without-owner": func(_, alone corev1.Pod) bool {
			return alone.Annotations[v1.DoNotDisruptAnnotationKey] == "true"
		},
	} {
		lying, ctx := Lies()[name].Client(honest), injection.WithControllerName(t.Context(), disrupting)
		var daemon, alone corev1.Pod
		if err := errors.Join(lying.Get(ctx, client.ObjectKey{Name: "daemon"}, &daemon),
			lying.Get(ctx, client.ObjectKey{Name: "alone"}, &alone)); err != nil {
			t.Fatal(err)
		}
		if !misread(daemon, alone) {
			t.Errorf("%s: pods are read as they are", name)
		}
	}
}

func TestTheReasonIsMistaken(t *testing.T) {
	for _, right := range []v1.DisruptionReason{v1.DisruptionReasonEmpty, v1.DisruptionReasonUnderutilized} {
		t.Run(string(right), func(t *testing.T) { mistakes(t, right) })
	}
}

// mistakes lets a lie write the reason of a disruption, and fails if it is right.
func mistakes(t *testing.T, right v1.DisruptionReason) {
	t.Helper()
	c := claim("Never")
	honest := fake.NewClientBuilder().WithObjects(c).WithStatusSubresource(c).Build()
	stored := c.DeepCopy()
	c.StatusConditions().SetTrueWithReason(v1.ConditionTypeDisruptionReason, string(right), "")
	ctx := injection.WithControllerName(t.Context(), disrupting)
	if err := Lies()["mistakes-the-reason"].Client(honest).Status().Patch(ctx, c, client.MergeFrom(stored)); err != nil {
		t.Fatal(err)
	}
	var kept v1.NodeClaim
	if err := honest.Get(ctx, client.ObjectKeyFromObject(c), &kept); err != nil {
		t.Fatal(err)
	}
	said := kept.StatusConditions().Get(v1.ConditionTypeDisruptionReason)
	if !said.IsTrue() || said.Reason == string(right) {
		t.Errorf("the reason is %q, want another than it was", said.Reason)
	}
}

func TestAPodThatWaitsHoldsNodesBack(t *testing.T) {
	waiting := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "waiting", Namespace: "default"}}
	for what, at := range map[string]client.Client{
		"":  fake.NewClientBuilder().WithObjects(pool()).Build(),
		"0": fake.NewClientBuilder().WithObjects(pool(), waiting).Build(),
	} {
		ctx := injection.WithControllerName(t.Context(), disrupting)
		var all v1.NodePoolList
		if err := Lies()["waits-for-pods-that-wait"].Client(at).List(ctx, &all); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, b := range all.Items[0].Spec.Disruption.Budgets {
			got += b.Nodes
		}
		if got != what {
			t.Errorf("a budget lets %q nodes be disrupted, want %q", got, what)
		}
	}
}
