package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestAProviderIsListedAsRunningOnlyWithVerdicts(t *testing.T) {
	g := NewWithT(t)
	rows, err := providerTable([]knownProvider{{Name: "Acme", Repository: "https://acme.example", Takes: "a simulator"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rows).To(ContainSubstring("| [Acme](https://acme.example) |  |  | not yet; it takes a simulator |  |"))

	for _, p := range []knownProvider{{Name: "Acme", Adapter: "acme", Runs: "its image"}, {Name: "Acme"}} {
		_, err = providerTable([]knownProvider{p})
		g.Expect(err).To(MatchError("Acme: write adapter and verdicts, or takes"))
	}
}
