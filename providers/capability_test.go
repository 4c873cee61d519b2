package providers

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestSupports(t *testing.T) {
	a := &Adapter{Name: "acme", Capabilities: map[Capability]Support{
		NodePools:      {},
		Spot:           {State: Supported},
		Interruption:   {State: Unsupported, Why: "it has no queue"},
		InstanceGC:     {State: Unknown},
		NodeRepair:     {Gate: "NodeRepair"},
		StaticCapacity: {Gate: "StaticCapacity"},
	}, Controller: Controller{Gates: map[string]bool{"NodeRepair": true, "StaticCapacity": false}}}
	for c, want := range map[Capability]string{
		NodePools: "", Spot: "", NodeRepair: "",
		Interruption: "acme does not support interruption: it has no queue",
		InstanceGC:   "it is unknown whether acme supports instanceGC; its adapter can say so under capabilities",
		NodeOverlay:  "it is unknown whether acme supports nodeOverlay; its adapter can say so under capabilities",
		StaticCapacity: "staticCapacity needs the feature gate StaticCapacity, which the adapter of acme does not turn on; " +
			"GATES=StaticCapacity=true does",
		"spto": "there is no capability spto, did you mean `spot`?",
	} {
		ok, why := a.Supports(c)
		NewWithT(t).Expect(why).To(Equal(want))
		NewWithT(t).Expect(ok).To(Equal(want == ""), string(c))
	}
}

func TestObjectsOfTheReference(t *testing.T) {
	g := NewWithT(t)
	a := Named("kwok")
	g.Expect(a.NodeClassGVR()).
		To(Equal(schema.GroupVersionResource{Group: "karpenter.kwok.sh", Version: "v1alpha1", Resource: "kwoknodeclasses"}))
	g.Expect(a.NodeClassObject("").GetName()).To(Equal("default"))
	g.Expect(a.NodeClassObject("mine").GetName()).To(Equal("mine"))
	g.Expect(a.NodePoolTemplate().GetKind()).To(Equal("NodePool"))
	a.NodeClassObject("").SetName("changed")
	g.Expect(a.NodeClassObject("").GetName()).To(Equal("default"), "each call gives a copy")
}
