package karpenter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// releases are the releases of Karpenter whose CRDs and names are in testdata, oldest first.
var releases = []string{"v1.0.8", "v1.5.5", "v1.15.0"}

// exists reports whether something that exists since a release (empty: always) is in another.
func exists(since, release string) bool {
	for _, r := range releases {
		if since == "" || r == since {
			return true
		}
		if r == release {
			return false
		}
	}
	return true
}

// Every release's CRDs have every field of an accessor, from the release in the table on.
func TestFieldsAreInTheCRDs(t *testing.T) {
	for _, field := range []struct{ path, crd, since string }{
		{fieldConditions, "nodeclaims", ""},
		{fieldConditions + ".type", "nodeclaims", ""},
		{fieldConditions + ".status", "nodeclaims", ""},
		{fieldConditions + ".reason", "nodeclaims", ""},
		{fieldConditions + ".message", "nodeclaims", ""},
		{fieldConditions + ".lastTransitionTime", "nodeclaims", ""},
		{fieldConditions + ".observedGeneration", "nodeclaims", ""},
		{fieldConditions + ".type", "nodepools", ""},
		{fieldBudgets + ".nodes", "nodepools", ""},
		{fieldBudgets + ".reasons", "nodepools", ""},
		{fieldBudgets + ".schedule", "nodepools", ""},
		{fieldBudgets + ".duration", "nodepools", ""},
		{fieldNodeName, "nodeclaims", ""},
		{fieldProviderID, "nodeclaims", ""},
		{fieldImageID, "nodeclaims", ""},
		{fieldCapacity, "nodeclaims", ""},
		{fieldAllocatable, "nodeclaims", ""},
		{fieldTaints + ".key", "nodeclaims", ""},
		{fieldTaints + ".value", "nodeclaims", ""},
		{fieldTaints + ".effect", "nodeclaims", ""},
		{fieldRequests, "nodeclaims", ""},
		{fieldRequired + ".key", "nodeclaims", ""},
		{fieldRequired + ".operator", "nodeclaims", ""},
		{fieldRequired + ".values", "nodeclaims", ""},
		{fieldExpireAfter, "nodeclaims", ""},
	} {
		for _, release := range releases {
			g := NewWithT(t)
			there := hasField(g, release, field.crd, field.path)
			g.Expect(there).To(Equal(exists(field.since, release)), "%s of %s in %s", field.path, field.crd, release)
		}
	}
}

func TestAMissingFieldIsNoticed(t *testing.T) {
	g := NewWithT(t)
	g.Expect(hasField(g, "v1.15.0", "nodeclaims", "status.nodename")).To(BeFalse())
	g.Expect(hasField(g, "v1.15.0", "nodeclaims", "status.nodeName.more")).To(BeFalse())
}

// hasField reports whether version v1 of a CRD has a field.
func hasField(g Gomega, release, crd, path string) bool {
	text, err := os.ReadFile(filepath.Join("testdata", release, "karpenter.sh_"+crd+".yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema schemaNode }
			}
		}
	}
	g.Expect(yaml.Unmarshal(text, &definition)).To(Succeed())
	for _, v := range definition.Spec.Versions {
		if v.Name == NodeClaims.Version {
			return v.Schema.OpenAPIV3Schema.has(strings.Split(path, "."))
		}
	}
	return false
}

type schemaNode struct {
	Properties map[string]schemaNode
	Items      *schemaNode
}

func (n schemaNode) has(path []string) bool {
	if len(path) == 0 {
		return true
	}
	if n.Items != nil {
		return n.Items.has(path)
	}
	next, there := n.Properties[path[0]]
	return there && next.has(path[1:])
}

// Every release's sources have every name of Karpenter's, from the release in the table on.
func TestNamesAreInTheSources(t *testing.T) {
	const v15, v115 = "v1.5.5", "v1.15.0"
	since := map[string]string{
		DoNotSyncTaintsLabel: v15, Reserved: v15, DisruptionReason: v15, NodeRegistrationHealthy: v15,
		Rebooting: v115, RebootingTaint: v115, DisruptionCostAnnotation: v115,
		Drained: v115, VolumesDetached: v115, // since v1.6.4, which has no test data
	}
	for _, name := range []string{
		NodePoolLabel, CapacityTypeLabel, RegisteredLabel, InitializedLabel, DoNotSyncTaintsLabel,
		Spot, OnDemand, Reserved, DisruptedTaint, UnregisteredTaint, RebootingTaint,
		DoNotDisruptAnnotation, NodePoolHashAnnotation, NodePoolHashVersionAnnotation, TerminationTimestampAnnotation,
		DisruptionCostAnnotation, TerminationFinalizer,
		Launched, Registered, Initialized, Consolidatable, Drifted, Drained, VolumesDetached, InstanceTerminating,
		ConsistentStateFound, DisruptionReason, Rebooting,
		ValidationSucceeded, NodeClassReady, NodeRegistrationHealthy,
		ReasonFailedScheduling, ReasonNominated, ReasonDisruptionBlocked, ReasonDisruptionTerminating, ReasonUnconsolidatable,
		ReasonEvicted, ReasonNodeClassNotReady, ReasonInsufficientCapacity,
	} {
		for _, release := range releases {
			g := NewWithT(t)
			text, err := os.ReadFile(filepath.Join("testdata", release, "names.txt"))
			g.Expect(err).NotTo(HaveOccurred())
			there := strings.Contains(string(text), "\n"+name+"\n")
			g.Expect(there).To(Equal(exists(since[name], release)), "%s in %s", name, release)
		}
	}
}
