package check

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestOneThingIsNotMany(t *testing.T) {
	for plural, one := range map[string]string{
		"nodes": "node",
		"NodeClaims of pool p that have drifted or are being deleted": "NodeClaim of pool p that has drifted or is " +
			"being deleted",
		"NodeClaims of pool p that have drifted":              "NodeClaim of pool p that has drifted",
		"pods of apps that are pending and are being deleted": "pod of apps that is pending and is being deleted",
		"nodes of pool p that were told to end and stay":      "node of pool p that was told to end and stays",
		"nodes of pool p that must not be disrupted and being deleted": "node of pool p that must not be disrupted and " +
			"being deleted",
		"ready NodeClasses":                      "ready NodeClass",
		"policies that no node fits":             "policy that no node fits",
		"events FailedScheduling from karpenter": "event FailedScheduling from karpenter",
	} {
		g := NewWithT(t)
		g.Expect(Words(1, plural)).To(Equal("1 " + one))
		g.Expect(Words(0, plural)).To(Equal("0 " + plural))
		g.Expect(Words(2, plural)).To(Equal("2 " + plural))
	}
}
