package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// schemasHere returns convertedSchemas as seen from this package.
func schemasHere() (folders []string) {
	for _, folder := range convertedSchemas() {
		folders = append(folders, filepath.Join("..", "..", folder))
	}
	return folders
}

func TestTheFieldsOfBothVersions(t *testing.T) {
	g := NewWithT(t)
	all, err := convertedFields(schemasHere())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(HaveKeyWithValue("NodePool.spec.disruption.expireAfter", []string{"v1beta1"}))
	g.Expect(all).To(HaveKeyWithValue("NodePool.spec.template.spec.expireAfter", []string{"v1"}))
	g.Expect(all).To(HaveKeyWithValue("NodeClaim.status.nodeName", []string{"v1", "v1beta1"}))
	g.Expect(all).To(HaveKeyWithValue("EC2NodeClass.spec.kubelet.maxPods", []string{"v1"}))
	g.Expect(all).To(HaveKeyWithValue("EC2NodeClass.status.amis.requirements.key", []string{"v1", "v1beta1"}))
	_, err = convertedFields([]string{t.TempDir()})
	g.Expect(err).To(MatchError(ContainSubstring("no CRDs in")))
}

func TestFieldsThatNoSpecExpectsAreUntested(t *testing.T) {
	g := NewWithT(t)
	table, untested := conversionTable(map[string][]string{
		"NodePool.spec.weight": {"v1", "v1beta1"}, "NodePool.spec.template.spec.kubelet.evictionHard": {"v1beta1"},
	}, []report.Outcome{
		{ID: "conversion/pool/limits", Verdict: report.Passed, Fields: []string{
			"NodePool.spec.weight", "v1/NodePool.spec.weight",
		}},
		{ID: "conversion/pool/kubelet", Verdict: report.Known, Fields: []string{
			"v1beta1/NodePool.spec.template.spec.kubelet.evictionHard.memory.available",
		}, Broke: []report.Broken{{
			What: "NodePool a in v1beta1: spec.template.spec.kubelet.evictionHard.memory.available is none; wanted is 5%",
		}}},
		{ID: "api/limits", Verdict: report.Passed, Fields: []string{"v1beta1/NodePool.spec.weight"}},
	})
	g.Expect(untested).To(Equal([]string{"v1beta1/NodePool.spec.weight"}))
	g.Expect(table).To(HaveSuffix("## NodePool\n\n| Field | Versions | Specs | Such as |\n|---|---|---|---|\n" +
		"| `NodePool.spec.template.spec.kubelet.evictionHard` | v1beta1 | 1 | conversion/pool/kubelet (loses) |\n" +
		"| `NodePool.spec.weight` | v1, v1beta1 | 1 | conversion/pool/limits |\n"))
}

// The table is written from a run, which no test makes.
func TestTheTableHasAllFields(t *testing.T) {
	g := NewWithT(t)
	all, err := convertedFields(schemasHere())
	g.Expect(err).NotTo(HaveOccurred())
	table, err := os.ReadFile(filepath.Join("..", "..", "suites", "conversion.md"))
	g.Expect(err).NotTo(HaveOccurred())
	for field, versions := range all {
		g.Expect(string(table)).To(MatchRegexp(fmt.Sprintf("\\| `%s` \\| %s \\| [1-9]", field, strings.Join(versions, ", "))))
	}
}
