package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestRecordSaysAllThatIsWrong(t *testing.T) {
	g := NewWithT(t)
	err := recordCluster(t.Context(), []string{"-for", "-3h", "-keep", "much", "-manifest", "cluster"})
	g.Expect(err).To(MatchError(And(
		ContainSubstring(`"cluster": plumbline record takes flags only`),
		ContainSubstring("--for -3h0m0s: it should be positive"),
		ContainSubstring(`--keep: size "much": it should be like 4Gi`),
		ContainSubstring("--manifest needs --image"),
	)))
}
