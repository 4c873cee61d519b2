package simulator

import (
	"context"
	"errors"
	"net/http"
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
	states []State
	broken error
	end    chan struct{}
}

func (b *box) Node() (Node, error) {
	return Node{
		Name: "n", ProviderID: "cloud://n",
		Taints: []corev1.Taint{{Key: "starting", Effect: "NoExecute"}},
	}, b.broken
}
func (b *box) Enter(s State)           { b.states = append(b.states, s) }
func (b *box) Ending() <-chan struct{} { return b.end }

// lives runs an instance, ends it after a while, and returns what was created and deleted.
func lives(t *testing.T, b *box, until time.Duration, react ...clienttesting.ReactionFunc) (did []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		for _, r := range react {
			client.PrependReactor("create", "nodes", r)
		}
		c := &Cluster{client: client, Version: "v1.36.0"}
		b.end = make(chan struct{})
		time.AfterFunc(until, func() { close(b.end) })
		c.Live(t.Context(), b, Times{
			Pending: 2 * time.Second, Boot: 3 * time.Second, Ending: 2 * time.Second,
			Notice: time.Second,
		})
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
	return did
}

func TestAnInstanceJoinsAndLeaves(t *testing.T) {
	g := NewWithT(t)
	b := &box{}
	g.Expect(lives(t, b, time.Minute)).To(Equal([]string{
		"InstancePending", "InstanceRunning", "create nodes", "InstanceShuttingDown", "InstanceTerminated", "patch nodes", "patch nodes", "delete nodes",
	}))
	g.Expect(b.states).To(Equal([]State{Running, ShuttingDown, Terminated}))
}

func TestAnInstanceThatEndsEarlyNeverJoins(t *testing.T) {
	for until, want := range map[time.Duration][]State{
		time.Second:     {ShuttingDown, Terminated},
		4 * time.Second: {Running, ShuttingDown, Terminated},
	} {
		b := &box{}
		NewWithT(t).Expect(lives(t, b, until)).NotTo(Or(ContainElement("create nodes"), ContainElement("delete nodes")))
		NewWithT(t).Expect(b.states).To(Equal(want))
	}
}

func TestAnInstanceThatCanNotStartNeverJoins(t *testing.T) {
	b := &box{broken: errors.New("its user data is none")}
	NewWithT(t).Expect(lives(t, b, time.Minute)).NotTo(ContainElement("create nodes"))
	NewWithT(t).Expect(b.states).To(Equal([]State{Running, ShuttingDown, Terminated}))
}

func TestItIsTriedAgainWhileTheAPIServerIsAway(t *testing.T) {
	away := 3
	did := lives(t, &box{}, time.Minute, func(clienttesting.Action) (bool, runtime.Object, error) {
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
	c.join(t.Context(), Node{
		Name: "n", ProviderID: "cloud://n",
		Labels: map[string]string{corev1.LabelArchStable: "arm64"}, Taints: []corev1.Taint{{Key: "a"}},
	})
	n, err := client.CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Spec).To(Equal(corev1.NodeSpec{ProviderID: "cloud://n", Taints: []corev1.Taint{{Key: "a"}}}))
	g.Expect(n.Annotations).To(HaveKeyWithValue("kwok.x-k8s.io/node", "fake"))
	g.Expect(n.Status.NodeInfo.KubeletVersion).To(Equal("v1.36.0"))
	g.Expect(n.Status.NodeInfo.Architecture).To(Equal("arm64"))
}

func TestWhereASimulatorMayListen(t *testing.T) {
	g := NewWithT(t)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "localhost:0"} {
		g.Expect(Serve(ended, address, http.NotFoundHandler())).
			To(Or(Succeed(), MatchError(context.Canceled), MatchError(ContainSubstring("assign"))), address)
	}
	for _, address := range []string{":4566", "0.0.0.0:4566", "192.0.2.1:4566", "4566"} {
		g.Expect(Serve(ended, address, http.NotFoundHandler())).To(MatchError(ContainSubstring("address")), address)
	}
}
