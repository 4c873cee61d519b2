package explore

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A short sequence explains a long one if that does and has the same, under other names and in other amounts.
func TestASequenceHasWhatAnotherIsMadeOf(t *testing.T) {
	g := NewWithT(t)
	apply := func(objects ...fixtures.Object) (s Sequence) {
		for _, o := range objects {
			s.Actions = append(s.Actions, Action{Do: Apply, Object: o.Unstructured().Object})
		}
		return s
	}
	pool := func() *fixtures.Pool { return fixtures.NodePool().Called("pool2") }
	pod := func() *fixtures.Workload { return fixtures.Pod().Called("pod3") }
	long := apply(
		pool().Consolidate(fixtures.WhenEmpty).Limit("cpu", "4").Require("zone", fixtures.NotIn, "a"),
		fixtures.Deployment(3).Called("app1").CPU("2").HostPort(80))
	long.Actions = append(long.Actions, Action{Do: CallHook, Hook: providers.Throttle, Count: 2})
	for words, c := range map[string]struct {
		part Sequence
		has  bool
	}{
		"nothing":             {Sequence{}, true},
		"plain":               {apply(pool(), pod()), true},
		"another amount":      {apply(pool().Limit("cpu", "7")), true},
		"another resource":    {apply(pool().Limit("memory", "7Gi")), false},
		"pods of another":     {apply(pod().HostPort(81)), true},
		"another operator":    {apply(pool().Require("zone", fixtures.In, "a")), false},
		"another policy":      {apply(pool().Consolidate(fixtures.Balanced)), false},
		"the same hook":       {Sequence{Actions: []Action{{Do: CallHook, Hook: providers.Throttle}}}, true},
		"another hook":        {Sequence{Actions: []Action{{Do: CallHook, Hook: providers.SlowDown}}}, false},
		"what it doesn't do":  {Sequence{Actions: []Action{{Do: KillController}}}, false},
		"time that it passes": {Sequence{Actions: []Action{{Do: Wait}}}, true},
	} {
		g.Expect(long.Has(c.part)).To(Equal(c.has), words)
	}
}

// Several actions may match a pattern together. The last of them goes.
func TestASequenceGoesWithoutWhatMatches(t *testing.T) {
	g := NewWithT(t)
	kill, start, wait := Action{Do: KillController}, Action{Do: StartAgents}, Action{Do: Wait}
	both := regexp.MustCompile("(?s)do: kill-controller.*do: start-agents")
	s := Sequence{Actions: []Action{start, kill, wait, start, wait, kill, start}}
	g.Expect(s.Unlike(both).Actions).To(Equal([]Action{start, kill, wait, wait, kill}))
	g.Expect(s.Unlike(regexp.MustCompile("do: delete"))).To(Equal(s))
	g.Expect(s.Unlike(regexp.MustCompile("actions:")).Actions).To(BeEmpty(), "it ends")
}

// What is left of a sequence has nothing of what explains it, and all else.
func TestASequenceGoesWithoutWhatExplainsIt(t *testing.T) {
	g := NewWithT(t)
	apply := func(o fixtures.Object) Action { return Action{Do: Apply, Object: o.Unstructured().Object} }
	pool, pod := fixtures.NodePool().Called("pool1"), fixtures.Pod().Called("pod1")
	port, tolerant := fixtures.Pod().Called("pod2").HostPort(80), fixtures.Deployment(2).Called("app3").Tolerate("a")
	s := Sequence{Seed: 7, Actions: []Action{apply(pool), apply(pod), apply(port), apply(tolerant), {Do: KillController}}}
	rest := s.Without(Sequence{Actions: []Action{apply(pool), apply(fixtures.Pod().Called("pod9").HostPort(81))}})
	g.Expect(rest).To(Equal(Sequence{
		Seed: 7, Actions: []Action{apply(pool), apply(pod), apply(tolerant), {Do: KillController}},
	}))
	g.Expect(rest.Without(Sequence{Actions: []Action{{Do: KillController}}}).Actions).To(HaveLen(3))
	g.Expect(s.Actions).To(HaveLen(5), "it stays as it is")
}
