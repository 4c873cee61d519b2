package providers

import (
	"testing"

	. "github.com/onsi/gomega"
)

// gpu-provisioner is on no proxy either, and its CRD is a file, so its adapter is not built in.
func TestTheAdapterOfKaitoIsValid(t *testing.T) {
	g := NewWithT(t)
	a := Load("kaito/adapter.yaml")
	g.Expect(a.Validate()).To(Succeed())
	g.Expect(a.NodeClaimTemplate().GetLabels()).To(HaveKey("kaito.sh/workspace"), "by which it knows its own")
	g.Expect(a.NodeClassGVR().GroupResource().String()).To(Equal("kaitonodeclasses.kaito.sh"))
}
