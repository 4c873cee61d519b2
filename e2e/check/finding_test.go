package check

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestFailureNamesClaimEventAndWhatStood(t *testing.T) {
	g := NewWithT(t)
	s, a, b, _ := inPool()
	h := s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).
		After(2345 * time.Millisecond).Change(b.Taint(karpenter.DisruptedTaint).False(karpenter.Ready).Label("x", "y")).History()
	f := Always(AtMost(1, DisruptedNodes(named("p")))).Judge(h)
	g.Expect(f.String()).To(Equal(strings.TrimSpace(`
broken: always at most 1 nodes of pool p that are disrupted
  at +3.345s, event 1: MODIFIED Node b (taint karpenter.sh/disrupted:NoSchedule added; condition Ready from True to False; metadata.labels.x set to "y")
  then: 2 nodes of pool p that are disrupted
    Node a: ready, pool p, tainted karpenter.sh/disrupted:NoSchedule
    Node b: not ready, pool p, tainted karpenter.sh/disrupted:NoSchedule`)))
	g.Expect(f.Event).NotTo(BeNil())
	g.Expect(*f.Event).To(Equal(h.Events()[f.At]))
}

func TestFailureOfWhatNeverCame(t *testing.T) {
	g := NewWithT(t)
	s, a, _, _ := inPool()
	h := s.After(time.Second).Change(a.Taint(karpenter.DisruptedTaint)).After(9 * time.Second).Add(historytest.Node("other")).History()
	pool := named("p")
	f := LeadsTo(AtLeast(1, DisruptedNodes(pool)), AtLeast(4, ReadyNodes(pool))).Judge(h)
	g.Expect(f.String()).To(Equal(strings.TrimSpace(`
broken: at least 1 nodes of pool p that are disrupted leads to at least 4 nodes of pool p that are ready
  at least 4 nodes of pool p that are ready: not in the 9s from this event to the end
  at +1s, event 0: MODIFIED Node a (taint karpenter.sh/disrupted:NoSchedule added)
  then: 3 nodes of pool p that are ready
    Node a: ready, pool p, tainted karpenter.sh/disrupted:NoSchedule
    Node b: ready, pool p
    Node c: ready, pool p`)))
}

func TestDescribe(t *testing.T) {
	pod := historytest.Pod("app-1", "app")
	for want, thing := range map[string]*historytest.Thing{
		"Pod default/app-1: Pending, not bound":                                        historytest.Pod("app-1", "app"),
		"Pod default/app-2: Running, on a, ready, being deleted":                       historytest.Pod("app-2", "app").Phase("Running").On("a").Ready().Deleting(),
		"NodeClaim c: pool p, node a, Registered, Drifted=False (Drifted)":             historytest.Claim("c").Pool("p").On("a").True("Registered").False("Drifted"),
		"NodeClaim d: instance cloud://1":                                              historytest.Claim("d").Set("cloud://1", "status", "providerID"),
		"NodePool p":                                                                   historytest.Pool("p"),
		"Event default/app-1.FailedScheduling: FailedScheduling on Pod app-1: no room": historytest.Report("karpenter", "FailedScheduling", pod).Set("no room", "message"),
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
		return whatChanged(events[0].Object, events[1])
	}
	for want, f := range map[string]func(*historytest.Thing){
		"":                             func(*historytest.Thing) {},
		"taint old:NoSchedule removed": func(n *historytest.Thing) { n.Untaint("old") },
		"metadata.deletionTimestamp set to \"2026-01-02T15:04:05Z\"":        func(n *historytest.Thing) { n.Deleting() },
		"condition Drifted is False":                                        func(n *historytest.Thing) { n.False("Drifted") },
		"metadata.labels.karpenter.sh/nodepool changed from \"p\" to \"q\"": func(n *historytest.Thing) { n.Pool("q") },
		"spec.list set; spec.n set to 3; spec.z set to true":                func(n *historytest.Thing) { n.Set([]any{1}, "spec", "list").Set(3, "spec", "n").Set(true, "spec", "z") },
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
