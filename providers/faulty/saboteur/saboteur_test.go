package saboteur

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// claimWith returns an initialized NodeClaim with more conditions.
func claimWith(name string, conditions ...string) v1.NodeClaim {
	claim := v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, kind := range append(conditions, v1.ConditionTypeInitialized) {
		claim.StatusConditions().SetTrueWithReason(kind, "Tested", "")
	}
	return claim
}

// TestTooManyIsOneMore checks that tooMany waits until the budget is used up, and picks only a
// node that could be disrupted.
func TestTooManyIsOneMore(t *testing.T) {
	idle := claimWith("idle")
	drifted := claimWith("drifted", v1.ConditionTypeDrifted)
	going := claimWith("going", v1.ConditionTypeDrifted, v1.ConditionTypeDisruptionReason)
	ended := claimWith("ended", v1.ConditionTypeDrifted, v1.ConditionTypeDisruptionReason,
		v1.ConditionTypeInstanceTerminating)
	for name, c := range map[string]struct {
		budget string
		claims []v1.NodeClaim
		want   string
	}{
		"none is allowed":              {"0", []v1.NodeClaim{drifted, idle}, "drifted"},
		"one is allowed, none is used": {"1", []v1.NodeClaim{drifted, idle}, ""},
		"one is allowed and used":      {"1", []v1.NodeClaim{going, drifted}, "drifted"},
		"one has ended":                {"1", []v1.NodeClaim{ended, drifted}, ""},
		"no other could be disrupted":  {"1", []v1.NodeClaim{going, idle}, ""},
		"a third, rounded up":          {"30%", []v1.NodeClaim{going, drifted, idle}, "drifted"},
		"all are allowed":              {"100%", []v1.NodeClaim{going, drifted}, ""},
	} {
		pool := &v1.NodePool{}
		pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: c.budget}}
		got := ""
		if claim := tooMany(pool, c.claims); claim != nil {
			got = claim.Name
		}
		if got != c.want {
			t.Errorf("%s: %q is disrupted, want %q", name, got, c.want)
		}
	}
}

// TestTaints checks that taints are added once, and that only the named ones are removed.
func TestTaints(t *testing.T) {
	other := corev1.Taint{Key: "other", Effect: corev1.TaintEffectNoSchedule}
	node := &corev1.Node{}
	taint(v1.DisruptedNoScheduleTaint, other)(node)
	taint(v1.DisruptedNoScheduleTaint)(node)
	if len(node.Spec.Taints) != 2 {
		t.Errorf("put on twice: %v", node.Spec.Taints)
	}
	untaint(v1.DisruptedNoScheduleTaint)(node)
	if tainted(node, v1.DisruptedNoScheduleTaint) || !tainted(node, other) {
		t.Errorf("the wrong taint was removed: %v", node.Spec.Taints)
	}
}
