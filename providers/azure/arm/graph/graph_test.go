package graph_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/arm/graph"
)

func TestQueries(t *testing.T) {
	vm := arm.Object{
		"id":   "/subscriptions/s/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/v",
		"tags": arm.Object{"pool": "p"},
	}
	for clause, want := range map[string]bool{
		`where resourceGroup == 'g'`:     true,
		`where resourceGroup == "other"`: false,
		`where tags has_cs "pool"`:       true,
		`where tags has_cs 'Pool'`:       false,
		`where not(tags has_cs 'pool')`:  false,
		`where not(tags has_cs 'x')`:     true,
	} {
		g := NewWithT(t)
		q, err := graph.Parse("Resources | where type == 'Microsoft.Compute/virtualMachines' | " + clause)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(q.Type).To(Equal("microsoft.compute/virtualmachines"))
		g.Expect(q.Matches(vm)).To(Equal(want), clause)
	}
}

func TestClausesThatAreNotKnown(t *testing.T) {
	for _, query := range []string{"", "Other", "Resources | take 1", "Resources | where name == 'v'"} {
		_, err := graph.Parse(query)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("does not know the clause")), query)
	}
}
