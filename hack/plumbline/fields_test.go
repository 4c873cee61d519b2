package main

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestTheFieldsOfTheSchemas(t *testing.T) {
	g := NewWithT(t)
	theirs, err := karpenterFields(filepath.Join("..", "..", schemas))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(theirs).To(ContainElements("NodePool.spec.limits", "NodePool.spec.template.spec.taints.effect",
		"NodeClaim.spec.expireAfter", "NodeOverlay.spec.price", "CapacityBuffer.spec.scalableRef.name"))
	_, err = karpenterFields(t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("no CRDs in")))

	g.Expect(kubernetesFields()).To(ContainElements("Pod.spec.containers.resources.requests",
		"Pod.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.labelSelector.matchLabels",
		"PersistentVolume.spec.nodeAffinity.required.nodeSelectorTerms.matchExpressions.key",
		"PodDisruptionBudget.spec.maxUnavailable", "PriorityClass.value", "StorageClass.volumeBindingMode"))
	g.Expect(kubernetesFields()).NotTo(ContainElement(HavePrefix("Pod.spec.containers.image")))
}

func TestFieldsThatNoSpecSetsComeFirst(t *testing.T) {
	text := fieldsTable([]string{"Pod.spec.os.name", "NodePool.spec.weight"}, []report.Outcome{
		{ID: "provisioning/weight", Fields: []string{"NodePool.spec.weight", "NodePool.spec.limits"}},
		{ID: "drift/rest", Fields: []string{"NodePool.spec.weight"}},
	})
	NewWithT(t).Expect(text).To(HaveSuffix("1 of 2 fields are set by a spec.\n\n## No spec sets\n\n- `Pod.spec.os.name`\n\n" +
		"## NodePool\n\n| Field | Specs | Such as |\n|---|---|---|\n" +
		"| `NodePool.spec.weight` | 2 | drift/rest, provisioning/weight |\n"))
}

func TestTheSettingsOfTheController(t *testing.T) {
	g := NewWithT(t)
	all, err := controllerSettings(filepath.Join("..", "..", schemas))
	g.Expect(err).NotTo(HaveOccurred())
	for _, setting := range []karpenter.Setting{
		karpenter.BatchIdleDuration, karpenter.BatchMaxDuration, karpenter.PreferencePolicy, karpenter.MinValuesPolicy,
	} {
		g.Expect(all).To(ContainElement("Controller." + string(setting)))
	}
}
