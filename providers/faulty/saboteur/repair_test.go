package saboteur

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// TestTheThirdRebootIsOneTooMany checks that a fault counts once, however often its node changes.
func TestTheThirdRebootIsOneTooMany(t *testing.T) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim"}, Status: v1.NodeClaimStatus{NodeName: "node"}}
	c := fake.NewClientBuilder().WithObjects(claim).WithStatusSubresource(claim).Build()
	if err := c.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	answer := countsRebootsForEver()
	for i, required := range []corev1.ConditionStatus{"True", "True", "False", "True", "False", "False", "True"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "node"}}
		node.Status.Conditions = []corev1.NodeCondition{{Type: kwok.KWOKRebootRequiredCondition, Status: required}}
		if _, err := answer(t.Context(), c, node); err != nil {
			t.Fatal(err)
		}
		var left v1.NodeClaimList
		if err := c.List(t.Context(), &left); err != nil {
			t.Fatal(err)
		}
		want := 1
		if i == 6 { // the third fault
			want = 0
		}
		if len(left.Items) != want {
			t.Errorf("after change %d, %d NodeClaims are left, want %d", i, len(left.Items), want)
		}
	}
}
