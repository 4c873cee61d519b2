package simulator

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// box is a test instance.
type box struct {
	name   string
	broken error
	copied error // why it can't be copied
}

func (b *box) Name() string              { return b.name }
func (b *box) ProviderID() string        { return "cloud:///zone/" + b.name }
func (b *box) Labels() map[string]string { return map[string]string{"of": b.name} }
func (b *box) Copy() (*box, error)       { return &box{name: "copy-of-" + b.name}, b.copied }
func (b *box) Node() (Node, error) {
	return Node{
		Name: "node-" + b.name, ProviderID: b.ProviderID(),
		Taints: []corev1.Taint{{Key: "starting", Effect: "NoExecute"}},
	}, b.broken
}

// brief are times that differ from each other.
func brief() Times {
	return Times{Pending: 2 * time.Second, Boot: 3 * time.Second, Ending: 2 * time.Second, Notice: time.Second}
}

// pass lets time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// lives launches an instance, ends it after a while, and returns the requests for its node and the reasons of its
// Events, and its states.
func lives(t *testing.T, b *box, until time.Duration, react ...clienttesting.ReactionFunc) (did []string, states []State) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		for _, r := range react {
			client.PrependReactor("create", "nodes", r)
		}
		f := NewFleet[*box](NewBase(t.Context(), &Cluster{client: client, Version: "v1.36.0"}, brief(), 1))
		f.OnChange(func(_ *box, s State) { states = append(states, s) })
		NewWithT(t).Expect(f.Launch(b)).To(Succeed())
		pass(until)
		NewWithT(t).Expect(f.Terminate(b.name)).To(BeTrue())
		pass(time.Minute)
		for _, a := range client.Actions() {
			what := a.GetVerb() + " " + a.GetResource().Resource
			if created, is := a.(clienttesting.CreateAction); is {
				if e, is := created.GetObject().(*corev1.Event); is {
					what = e.Reason
				}
			}
			did = append(did, what)
		}
	})
	return did, states
}

func TestAnInstanceJoinsAndLeaves(t *testing.T) {
	g := NewWithT(t)
	did, states := lives(t, &box{name: "b"}, time.Minute)
	g.Expect(did).To(Equal([]string{
		"InstancePending", "InstanceRunning", "create nodes", "InstanceShuttingDown", "InstanceTerminated",
		"patch nodes", "patch nodes", "delete nodes",
	}), "its kubelet goes silent with it")
	g.Expect(states).To(Equal([]State{Running, ShuttingDown, Terminated}))
}

func TestAnInstanceTakesOverTheNodeOfAnEarlierOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		client := fake.NewClientset()
		f := NewFleet[*box](NewBase(t.Context(), &Cluster{client: client}, brief(), 1))
		node := func() *corev1.Node {
			n, err := client.CoreV1().Nodes().Get(t.Context(), "node-b", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			return n
		}
		played := func() string { return node().Annotations["kwok.x-k8s.io/node"] }
		g.Expect(f.Launch(&box{name: "b"})).To(Succeed())
		pass(time.Minute)
		registered := node()
		registered.Spec.Taints = nil
		_, err := client.CoreV1().Nodes().Update(t.Context(), registered, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(f.Terminate("b")).To(BeTrue())
		pass(brief().Ending)
		g.Expect(f.Launch(&box{name: "b"})).To(Succeed())
		g.Expect(played()).To(BeEmpty(), "the kubelet of the first is silent")
		pass(time.Minute)
		g.Expect(played()).To(Equal("fake"))
		g.Expect(node().Spec.Taints).To(BeEmpty(), "it registers no second time")
		g.Expect(f.Terminate("b")).To(BeTrue())
		pass(time.Minute)
		_, err = client.CoreV1().Nodes().Get(t.Context(), "node-b", metav1.GetOptions{})
		g.Expect(err).To(HaveOccurred(), "its node leaves with the second")
	})
}

func TestAnInstanceThatEndsEarlyNeverJoins(t *testing.T) {
	for until, want := range map[time.Duration][]State{
		time.Second:     {ShuttingDown, Terminated},
		4 * time.Second: {Running, ShuttingDown, Terminated},
	} {
		did, states := lives(t, &box{name: "b"}, until)
		NewWithT(t).Expect(did).NotTo(Or(ContainElement("create nodes"), ContainElement("delete nodes")))
		NewWithT(t).Expect(states).To(Equal(want))
	}
}

func TestAnInstanceThatCanNotStartNeverJoins(t *testing.T) {
	did, states := lives(t, &box{name: "b", broken: errors.New("its user data is none")}, time.Minute)
	NewWithT(t).Expect(did).NotTo(ContainElement("create nodes"))
	NewWithT(t).Expect(states).To(Equal([]State{Running, ShuttingDown, Terminated}))
}

func TestItIsTriedAgainWhileTheAPIServerIsAway(t *testing.T) {
	away := 3
	did, _ := lives(t, &box{name: "b"}, time.Minute, func(clienttesting.Action) (bool, runtime.Object, error) {
		away--
		return away >= 0, nil, errors.New("connection refused")
	})
	NewWithT(t).Expect(did).To(ContainElements("create nodes", "create nodes", "create nodes", "create nodes",
		"delete nodes"))
}

func TestNodesAreWhatTheirInstancesSay(t *testing.T) {
	g := NewWithT(t)
	client := fake.NewClientset()
	c := &Cluster{client: client, Version: "v1.36.0"}
	said := Node{
		Name: "n", ProviderID: "cloud://n", Annotations: map[string]string{"of": "a cloud"},
		Labels: map[string]string{corev1.LabelArchStable: "arm64"}, Taints: []corev1.Taint{{Key: "a"}},
		Conditions: []corev1.NodeCondition{{Type: "Healthy", Status: "False"}},
	}
	c.join(t.Context(), said)
	n, err := client.CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Spec).To(Equal(corev1.NodeSpec{ProviderID: "cloud://n", Taints: []corev1.Taint{{Key: "a"}}}))
	g.Expect(n.Annotations).To(Equal(map[string]string{"kwok.x-k8s.io/node": "fake", "of": "a cloud"}))
	g.Expect(n.Status.Conditions).To(Equal(said.Conditions))
	g.Expect(n.Status.NodeInfo.KubeletVersion).To(Equal("v1.36.0"))
	g.Expect(n.Status.NodeInfo.Architecture).To(Equal("arm64"))

	c.join(t.Context(), Node{Name: "older", KubeletVersion: "v1.35.1"})
	n, err = client.CoreV1().Nodes().Get(t.Context(), "older", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Status.NodeInfo.KubeletVersion).To(Equal("v1.35.1"))
}

func TestAKubeletGoesSilentAndSpeaksAgain(t *testing.T) {
	g := NewWithT(t)
	client := fake.NewClientset()
	c := &Cluster{client: client}
	g.Expect(c.Silence(t.Context(), "n")).To(MatchError(ContainSubstring("node n has not joined yet, or has left")))
	c.join(t.Context(), Node{Name: "n", Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: "Healthy", Status: corev1.ConditionTrue},
	}})
	node := func() *corev1.Node {
		n, err := client.CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return n
	}
	g.Expect(c.Silence(t.Context(), "n")).To(Succeed())
	g.Expect(node().Annotations).NotTo(HaveKey(played), "KWOK leaves it alone")
	g.Expect(node().Labels).To(HaveKey(silent), "KWOK lets go of it")
	conditions := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for _, condition := range node().Status.Conditions {
		conditions[condition.Type] = condition.Status
	}
	g.Expect(conditions).To(Equal(map[corev1.NodeConditionType]corev1.ConditionStatus{
		corev1.NodeReady: corev1.ConditionUnknown, "Healthy": corev1.ConditionTrue,
	}))
	g.Expect(c.Speak(t.Context(), "n")).To(Succeed())
	g.Expect(node().Annotations).To(HaveKeyWithValue(played, "fake"))
	g.Expect(node().Labels).NotTo(HaveKey(silent))
	g.Expect((&Cluster{}).Speak(t.Context(), "n")).To(MatchError(ContainSubstring("--alone")))
}

// fleet returns a fleet of instances that join nothing.
func fleet(t *testing.T) (*Base, *Fleet[*box]) {
	t.Helper()
	b := NewBase(t.Context(), nil, brief(), 1)
	return b, NewFleet[*box](b)
}

// names returns the names and states of entries.
func names(entries []Entry[*box]) (all []string) {
	for _, e := range entries {
		all = append(all, e.Instance.name+" "+string(e.State))
	}
	return all
}

func TestListsShowWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b, f := fleet(t)
		g.Expect(f.Launch(&box{name: "a"})).To(Succeed())
		pass(10 * time.Second)
		g.Expect(f.Launch(&box{name: "b"})).To(Succeed())
		g.Expect(f.Launch(&box{name: "b"})).To(MatchError("there already is an instance b: it is pending"))
		g.Expect(names(f.Listed())).To(Equal([]string{"a running", "b pending"}))

		g.Expect(b.Faults.Add(Fault{Kind: Stale, By: 5 * time.Second})).To(Succeed())
		g.Expect(names(f.Listed())).To(Equal([]string{"a running"}))
		g.Expect(names(f.Living())).To(Equal([]string{"a running", "b pending"}), "only lists are stale")

		g.Expect(f.Terminate("a")).To(BeTrue())
		_, state, _ := f.Get("a")
		g.Expect(state).To(Equal(ShuttingDown), "at once")
		pass(3 * time.Second)
		g.Expect(names(f.Listed())).To(Equal([]string{"a running"}), "five seconds ago")
		g.Expect(names(f.Living())).To(Equal([]string{"b running"}))
		b.Faults.Clear()
		g.Expect(names(f.Listed())).To(Equal([]string{"b running"}))
		_, _, there := f.Get("a")
		g.Expect(there).To(BeFalse())
		g.Expect(f.Terminate("a")).To(BeFalse())
		g.Expect(f.Launch(&box{name: "a"})).To(Succeed(), "its name is free")
	})
}

func TestAPreparedInstanceHasNoLifeUntilItIsLaunched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b, f := fleet(t)
		var told []State
		f.OnChange(func(_ *box, s State) { told = append(told, s) })
		g.Expect(f.Prepare(&box{name: "a"})).To(Succeed())
		g.Expect(f.Prepare(&box{name: "a"})).To(MatchError("there already is an instance a: it is prepared"))
		g.Expect(b.Faults.Add(Fault{Kind: Stale, By: 5 * time.Second})).To(Succeed())
		g.Expect(f.Listed()).To(BeEmpty(), "five seconds ago")
		pass(time.Minute)
		g.Expect(names(f.Listed())).To(Equal([]string{"a prepared"}))
		g.Expect(f.Listed()[0].Launched).To(BeZero())
		g.Expect(f.ProviderIDs()).To(Equal([]string{"cloud:///zone/a"}))
		_, err := f.NodeName("a")
		g.Expect(err).To(MatchError("instance a has ended, or has not been started"))

		started := &box{name: "a"}
		g.Expect(f.Launch(started)).To(Succeed())
		g.Expect(names(f.Listed())).To(Equal([]string{"a prepared"}), "five seconds ago")
		pass(3 * time.Second)
		i, state, _ := f.Get("a")
		g.Expect(i).To(BeIdenticalTo(started))
		g.Expect(state).To(Equal(Running))
		g.Expect(f.NodeName("a")).To(Equal("node-a"))
		g.Expect(time.Since(f.Living()[0].Launched)).To(Equal(3 * time.Second))
		g.Expect(told).To(Equal([]State{Running}))
	})
}

func TestAPreparedInstanceIsGoneAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		_, f := fleet(t)
		told := make(chan State, 1)
		f.OnChange(func(_ *box, s State) { told <- s })
		g.Expect(f.Prepare(&box{name: "a"})).To(Succeed())
		g.Expect(f.End("cloud:///zone/a")).To(Succeed())
		g.Expect(f.Living()).To(BeEmpty())
		g.Expect(<-told).To(Equal(Terminated))
		g.Expect(f.Prepare(&box{name: "a"})).To(Succeed(), "its name is free")
	})
}

func TestEndedInstancesAreRememberedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		_, f := fleet(t)
		f.Remember(time.Minute)
		g.Expect(f.Launch(&box{name: "a"})).To(Succeed())
		g.Expect(f.Terminate("a")).To(BeTrue())
		pass(30 * time.Second)
		g.Expect(names(f.Listed())).To(Equal([]string{"a terminated"}))
		g.Expect(f.Listed()[0].Ended.Sub(f.Listed()[0].Launched)).To(Equal(brief().Ending))
		g.Expect(f.Living()).To(BeEmpty())
		g.Expect(f.Terminate("a")).To(BeTrue(), "it can be asked for again")
		pass(time.Minute)
		g.Expect(f.Listed()).To(BeEmpty())
		g.Expect(f.Terminate("a")).To(BeFalse())
		pass(2 * time.Hour)
		g.Expect(f.Listed()).To(BeEmpty())
		g.Expect(f.all).To(BeEmpty(), "it is forgotten")
		g.Expect(f.newest).To(BeEmpty())
	})
}

func TestAFleetIsSafeForConcurrentUse(t *testing.T) {
	g := NewWithT(t)
	b := NewBase(t.Context(), nil, Times{}, 1)
	f := NewFleet[*box](b)
	ended := make(chan string, 100)
	f.OnChange(func(i *box, s State) {
		if _, _, there := f.Get(i.name); s == Running && there { // a callback may call the fleet
			go f.Terminate(i.name)
		} else if s == Terminated {
			ended <- i.name
		}
	})
	for n := range 100 {
		go func() { _ = f.Launch(&box{name: fmt.Sprint(n)}) }()
	}
	for range 100 {
		g.Eventually(ended).Should(Receive())
		f.Listed()
	}
	g.Expect(f.Living()).To(BeEmpty())
}

func TestWhatIsLeakedIsACopyOfTheLastInstance(t *testing.T) {
	g := NewWithT(t)
	_, f := fleet(t)
	_, err := f.Leak()
	g.Expect(err).To(MatchError("there has been no instance yet to copy"))
	g.Expect(f.Launch(&box{name: "a"})).To(Succeed())
	g.Expect(f.Leak()).To(Equal("cloud:///zone/copy-of-a"))
	g.Expect(f.ProviderIDs()).To(Equal([]string{"cloud:///zone/a", "cloud:///zone/copy-of-a"}))
	g.Expect(f.Launch(&box{name: "b", copied: errors.New("its subnet is gone")})).To(Succeed())
	_, err = f.Leak()
	g.Expect(err).To(MatchError("its subnet is gone"))
}
