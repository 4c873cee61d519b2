package check_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestPromises(t *testing.T) {
	pool := historytest.Pool("p")
	begin := func() (s *historytest.Story, node, claim *historytest.Thing) {
		node, claim = historytest.Node("n").Pool("p").Ready(), historytest.NodeClaim("c").Pool("p")
		return historytest.Begin().Add(historytest.Pool("p"), node, claim).Start().After(time.Second), node, claim
	}
	quiet := func() *historytest.Story { s, _, _ := begin(); return s }
	drifts := func() *historytest.Story { s, _, c := begin(); return s.Change(c.True(karpenter.Drifted)) }
	disrupts := func() *historytest.Story {
		s, n, c := begin()
		return s.Change(c.True(karpenter.Drifted)).After(time.Second).Change(n.Taint(karpenter.DisruptedTaint))
	}
	inOrder := func() *historytest.Story {
		s, _, c := begin()
		return s.Change(c.True(karpenter.Launched)).Change(c.True(karpenter.Registered))
	}
	unlaunched := func() *historytest.Story { s, _, c := begin(); return s.Change(c.True(karpenter.Registered)) }
	registered := check.ComesWith(check.NodeClaims(pool), karpenter.Registered, karpenter.Launched)

	for name, c := range map[string]struct {
		check check.Check
		story func() *historytest.Story
		want  check.Verdict
	}{
		"acts on drift: holds":            {check.ActsOnDrift(pool), disrupts, check.Holds},
		"acts on drift: breaks":           {check.ActsOnDrift(pool), drifts, check.Broken},
		"acts on drift: never exercised":  {check.ActsOnDrift(pool), quiet, check.Vacuous},
		"holds it back: holds":            {check.HoldsDriftBack(pool), drifts, check.Holds},
		"holds it back: breaks":           {check.HoldsDriftBack(pool), disrupts, check.Broken},
		"holds it back: never exercised":  {check.HoldsDriftBack(pool), quiet, check.Vacuous},
		"comes with another: holds":       {registered, inOrder, check.Holds},
		"comes with another: breaks":      {registered, unlaunched, check.Broken},
		"comes with another: never comes": {registered, drifts, check.Vacuous},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.check.Judge(c.story().History())
			NewWithT(t).Expect(f.Verdict).To(Equal(c.want), f.String())
		})
	}
}
