package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestFailureNamesClaimEventAndWhatStood(t *testing.T) {
	g := NewWithT(t)
	s, a, b, _ := inPool()
	h := s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).
		After(2345 * time.Millisecond).
		Change(b.Taint(karpenter.DisruptedTaint).False(karpenter.Ready).Label("x", "y")).History()
	f := Always(AtMost(1, DisruptedNodes(named("p")))).Judge(h)
	g.Expect(f.String()).To(Equal(strings.TrimSpace(`
broken: always at most 1 node of pool p that is disrupted
  at +3.345s, event 5: MODIFIED Node b (taint karpenter.sh/disrupted:NoSchedule added; condition Ready from True to False; metadata.labels.x set to "y")
  want: at most 1 node of pool p that is disrupted
  got: 2 nodes of pool p that are disrupted
      Node a: ready, pool p, tainted karpenter.sh/disrupted:NoSchedule
      Node b: not ready, pool p, tainted karpenter.sh/disrupted:NoSchedule`)))
	g.Expect(f.Event).NotTo(BeNil())
	g.Expect(*f.Event).To(Equal(h.Events()[f.At]))
	g.Expect(f.Tested).To(Equal(2), "by the first taint, and by the second, which broke it")
}

func TestFailureOfWhatNeverCame(t *testing.T) {
	g := NewWithT(t)
	s, a, _, _ := inPool()
	h := s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).After(9 * time.Second).
		Add(historytest.Node("other")).History()
	pool := named("p")
	f := LeadsTo(AtLeast(1, DisruptedNodes(pool)), AtLeast(4, ReadyNodes(pool))).Judge(h)
	g.Expect(f.String()).To(Equal(strings.TrimSpace(`
broken: at least 1 node of pool p that is disrupted leads to at least 4 nodes of pool p that are ready
  at +1s, event 4: MODIFIED Node a (taint karpenter.sh/disrupted:NoSchedule added)
  want: at least 4 nodes of pool p that are ready, in the 9s from this event to the end
  got: 3 nodes of pool p that are ready
      Node a: ready, pool p, tainted karpenter.sh/disrupted:NoSchedule
      Node b: ready, pool p
      Node c: ready, pool p`)))
}

// Specs judge the part of a recording since a mark; invariants judge all of it.
func TestAnEventHasOneNumberAndOneTime(t *testing.T) {
	g := NewWithT(t)
	s, a, _, _ := inPool()
	before := s.History().Mark()
	whole := s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).History()
	part := whole.Since(before)
	check := Always(None(DisruptedNodes(named("p"))))
	of := func(h *history.History) string {
		f := check.Judge(h)
		return fmt.Sprintf("+%s, event %d", f.Offset, f.Number)
	}
	g.Expect(of(part)).To(Equal(of(whole)))
	g.Expect(of(part)).To(Equal("+1s, event 4"))
}

func TestABreachIsATest(t *testing.T) {
	pool := named("p")
	s, a, _, _ := inPool()
	h := s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).After(time.Second).Delete(a).History()
	none, four := None(DisruptedNodes(pool)), AtLeast(4, Nodes(pool))
	for _, c := range []Check{
		Always(none), Never(AtMost(2, Nodes(pool))), Sometimes(four), Finally(four), Until(none, four),
		Until(AtLeast(1, Nodes(pool)), four),
		LeadsTo(AtLeast(1, Nodes(pool)), four), Within(time.Second, LeadsTo(AtLeast(1, Nodes(pool)), four)),
		Whenever(Leaves(Nodes(pool)), "there are four", func(*unstructured.Unstructured) Claim { return four }),
		Follow("nothing happens", "", func() Monitor {
			return observer(func(m *Moment) {
				if m.Event != nil {
					m.Broken("it did")
				}
			})
		}),
	} {
		f := c.Judge(h)
		NewWithT(t).Expect(f.Verdict).To(Equal(Broken), f.String())
		NewWithT(t).Expect(f.Tested).To(BeNumerically(">", 0), f.String())
	}
}

func TestFailureOfAMonitorSaysWhatItSaw(t *testing.T) {
	s, a, _, _ := inPool()
	h := s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).History()
	f := Follow("nodes stay", "", func() Monitor {
		return observer(func(m *Moment) {
			if m.Event != nil {
				m.Broken("node a goes").Beside(m.Event.Object)
			}
		})
	}, karpenter.Nodes).Judge(h)
	NewWithT(t).Expect(f.String()).To(Equal(strings.TrimSpace(`
broken: nodes stay
  at +1s, event 4: MODIFIED Node a (taint karpenter.sh/disrupted:NoSchedule added)
  got: node a goes
    Node a: ready, pool p, tainted karpenter.sh/disrupted:NoSchedule`)))
}

func TestDescribe(t *testing.T) {
	pod := historytest.Pod("app-1", "app")
	for want, thing := range map[string]*historytest.Thing{
		"Pod default/app-1: Pending, not bound": historytest.Pod("app-1", "app"),
		"Pod default/app-2: Running, on a, ready, being deleted": historytest.Pod("app-2", "app").
			Phase("Running").On("a").Ready().Deleting(),
		"NodeClaim c: pool p, node a, Registered, Drifted=False (Drifted)": historytest.NodeClaim("c").Pool("p").
			On("a").True("Registered").False("Drifted"),
		"NodeClaim d: instance cloud://1": historytest.NodeClaim("d").
			Set("cloud://1", "status", "providerID"),
		"Node n: not ready, instance cloud://1": historytest.Node("n").Set("cloud://1", "spec", "providerID"),
		"NodePool p":                            historytest.Pool("p"),
		"Event default/app-1.FailedScheduling: FailedScheduling on Pod app-1: no room": historytest.Report("karpenter",
			"FailedScheduling", pod).Set("no room", "message"),
	} {
		h := historytest.Begin().Add(thing).History()
		NewWithT(t).Expect(Describe(h.Events()[0].Object)).To(Equal(want))
	}
}

func TestChange(t *testing.T) {
	told := func(change func(*historytest.Thing)) string {
		node := historytest.Node("a").Pool("p").Taint("old").True("Ready")
		s := historytest.Begin().Add(node)
		change(node)
		events := s.Change(node).History().Events()
		return Change(events[0].Object, events[1])
	}
	for want, f := range map[string]func(*historytest.Thing){
		"":                             func(*historytest.Thing) {},
		"taint old:NoSchedule removed": func(n *historytest.Thing) { n.Untaint("old") },
		"metadata.deletionTimestamp set to \"2026-01-02T15:04:05Z\"": func(n *historytest.Thing) { n.Deleting() },
		"condition Drifted is False": func(n *historytest.Thing) {
			n.False("Drifted")
		},
		"metadata.labels.karpenter.sh/nodepool changed from \"p\" to \"q\"": func(n *historytest.Thing) { n.Pool("q") },
		"spec.list set; spec.n set to 3; spec.z set to true": func(n *historytest.Thing) {
			n.Set([]any{1}, "spec", "list").Set(3, "spec", "n").Set(true, "spec", "z")
		},
		"a.a set to 1; a.b set to 1; a.c set to 1; a.d set to 1; a.e set to 1; 2 more": func(n *historytest.Thing) {
			n.Set(map[string]any{}, "a")
			for k := range strings.SplitSeq("abcdefg", "") {
				n.Set(1, "a", k)
			}
		},
	} {
		NewWithT(t).Expect(told(f)).To(Equal(want))
	}
}
