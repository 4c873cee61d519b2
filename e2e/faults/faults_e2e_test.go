//go:build e2e

package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
)

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

const (
	kubernetesVersion = "v1.36.3"
	namespace         = metav1.NamespaceDefault
)

// place is a cluster with a client that goes through the proxy, and one that goes straight.
type place struct {
	testing.TB
	cluster  cluster.Cluster
	proxy    *faults.Proxy
	through  *rest.Config
	client   kubernetes.Interface // through the proxy
	straight kubernetes.Interface
}

// start starts a cluster. A pod's own credentials are a token, so the client has one too.
func start(t testing.TB) *place {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	cache, err := build.Open(nil)
	g.Expect(err).NotTo(HaveOccurred())
	up, err := local.Start(ctx, cache, cluster.Options{
		Name: "faults-" + rand.String(5), Kubernetes: kubernetesVersion, Logs: t.TempDir(), Bare: true,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(up.Close(context.WithoutCancel(ctx))).To(Succeed()) })
	p := &place{TB: t, cluster: up, proxy: up.(cluster.Interposed).Faults()}
	p.straight = kubernetes.NewForConfigOrDie(up.Config())
	_, err = p.straight.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "all"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: "default"}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	token := &authenticationv1.TokenRequest{}
	g.Eventually(func() error {
		token, err = p.straight.CoreV1().ServiceAccounts(namespace).
			CreateToken(ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		return err
	}, "10s", "100ms").Should(Succeed())
	p.through = &rest.Config{Host: p.proxy.URL(), BearerToken: token.Status.Token, QPS: -1}
	p.through.CAData = up.Config().CAData
	p.client = kubernetes.NewForConfigOrDie(p.through)
	return p
}

// begin begins a fault that only counts.
func (p *place) begin(f faults.Fault) *faults.Active {
	p.Helper()
	a, err := p.proxy.Begin(p.Context(), f, func(context.Context, faults.Request) error { return nil })
	NewWithT(p).Expect(err).NotTo(HaveOccurred())
	p.Cleanup(a.End)
	return a
}

// create creates a ConfigMap through the proxy.
func (p *place) create(name string) error {
	return write(p.Context(), p.client, name)
}

func write(ctx context.Context, client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().ConfigMaps(namespace).
		Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

// exists asks the API server itself.
func (p *place) exists(name string) bool {
	_, err := p.straight.CoreV1().ConfigMaps(namespace).Get(p.Context(), name, metav1.GetOptions{})
	return err == nil
}

// watch watches ConfigMaps through the proxy, in an encoding.
func (p *place) watch(contentType string) watch.Interface {
	p.Helper()
	config := rest.CopyConfig(p.through)
	config.AcceptContentTypes, config.ContentType = contentType, contentType
	w, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace).
		Watch(p.Context(), metav1.ListOptions{LabelSelector: "!none"})
	NewWithT(p).Expect(err).NotTo(HaveOccurred())
	p.Cleanup(w.Stop)
	return w
}

var encodings = []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}

// drained returns the names of the objects that a watch tells of, until it is silent for a while.
func drained(w watch.Interface) (names []string) {
	for {
		select {
		case e, open := <-w.ResultChan():
			if !open {
				return append(names, "the end")
			}
			if object, is := e.Object.(metav1.Object); is {
				names = append(names, object.GetName())
			} else {
				names = append(names, fmt.Sprintf("%s %d", e.Type, e.Object.(*metav1.Status).Code))
			}
		case <-time.After(500 * time.Millisecond):
			return names
		}
	}
}

func TestFaultsOnARealAPIServer(t *testing.T) {
	p := start(t)
	for name, test := range map[string]func(*place){
		"requests pass": testRequestsPass, "crash before": testCrashBefore, "crash after": testCrashAfter,
		"lost answer": testLostAnswer, "refusals": testRefusals, "delay": testDelay, "freeze": testFreeze,
		"events held back": testHeldEvents, "events left out": testSkippedEvents, "cut": testCutWatches,
		"expired": testExpiredWatches, "informers converge": testInformersConverge, "nth": testNth,
	} {
		t.Run(name, func(t *testing.T) {
			of := *p
			of.TB = t
			test(&of)
		})
	}
	t.Run("no API server", func(t *testing.T) {
		g := NewWithT(t)
		again, err := p.cluster.(cluster.Stopper).StopAPIServer(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		err = p.create("nobody-there")
		g.Expect(err).To(HaveOccurred())
		g.Expect(apierrors.ReasonForError(err)).To(Equal(metav1.StatusReasonUnknown), "no status: nobody answered")
		g.Expect(again(t.Context())).To(Succeed())
		g.Eventually(func() error { return p.create("somebody-there") }, "10s", "100ms").Should(Succeed())
	})
}

func testRequestsPass(p *place) {
	g := NewWithT(p)
	for _, contentType := range encodings {
		w := p.watch(contentType)
		drained(w)
		name := "passes-" + rand.String(5)
		g.Expect(p.create(name)).To(Succeed())
		g.Expect(drained(w)).To(Equal([]string{name}), contentType)
	}
	transport, err := rest.TransportFor(p.through)
	g.Expect(err).NotTo(HaveOccurred())
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.proxy.URL()+"/version", nil)
	g.Expect(err).NotTo(HaveOccurred())
	got, err := transport.RoundTrip(r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Body.Close()).To(Succeed())
	g.Expect(got.Proto).To(Equal("HTTP/2.0"))
}

func testCrashBefore(p *place) {
	g := NewWithT(p)
	struck := make(chan faults.Request, 1)
	a, err := p.proxy.Begin(p.Context(), faults.CrashBefore(faults.On("create", configMaps)),
		func(_ context.Context, r faults.Request) error { struck <- r; return nil })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.create("before")).NotTo(Succeed())
	g.Expect(struck).To(Receive(Equal(faults.Request{Verb: "create", Resource: "configmaps", Namespace: namespace})))
	g.Expect(p.exists("before")).To(BeFalse())
	g.Expect(a.Await(p.Context())).To(Succeed())
	g.Expect(p.create("before")).To(Succeed(), "it strikes once")
	g.Expect(a.Struck()).To(Equal(1))
}

func testCrashAfter(p *place) {
	g := NewWithT(p)
	killing, killed := make(chan struct{}), make(chan struct{})
	a, err := p.proxy.Begin(p.Context(), faults.CrashAfter(faults.On("create", configMaps)),
		func(context.Context, faults.Request) error { close(killing); <-killed; return fmt.Errorf("it lives") })
	g.Expect(err).NotTo(HaveOccurred())
	lost, held := make(chan error, 1), make(chan error, 1)
	go func() { lost <- p.create("after") }()
	<-killing
	g.Expect(p.exists("after")).To(BeTrue())
	go func() { held <- p.create("later") }()
	g.Consistently(held, "500ms").ShouldNot(Receive(), "nothing gets through while the controller is killed")
	g.Expect(p.exists("later")).To(BeFalse())
	close(killed)
	g.Eventually(lost).Should(Receive(HaveOccurred()))
	g.Eventually(held).Should(Receive(Not(HaveOccurred())))
	g.Expect(a.Await(p.Context())).To(MatchError("it lives"))
}

func testLostAnswer(p *place) {
	g := NewWithT(p)
	a := p.begin(faults.LoseAnswer(faults.On("create", configMaps)))
	g.Expect(p.create("lost")).NotTo(Succeed())
	g.Expect(p.exists("lost")).To(BeTrue())
	g.Expect(apierrors.IsAlreadyExists(p.create("lost"))).To(BeTrue())
	g.Expect(a.Struck()).To(Equal(1))
}

func testRefusals(p *place) {
	g := NewWithT(p)
	p.begin(faults.Refuse(faults.Writes(configMaps), apierrors.NewConflict(configMaps.GroupResource(), "x", nil)))
	g.Expect(apierrors.IsConflict(p.create("refused"))).To(BeTrue())
	g.Expect(p.create("refused")).To(Succeed())

	busy := p.begin(faults.Refuse(faults.On("create", configMaps), apierrors.NewTooManyRequests("slow", 1)).Times(2))
	began := time.Now()
	g.Expect(p.create("later-on")).To(Succeed(), "client-go tries again when it is told to")
	g.Expect(time.Since(began)).To(BeNumerically(">", 2*time.Second))
	g.Expect(busy.Struck()).To(Equal(2))

	down := p.begin(faults.Refuse(faults.Requests{}, apierrors.NewInternalError(fmt.Errorf("down"))).Always())
	g.Expect(apierrors.IsInternalError(p.create("down"))).To(BeTrue())
	_, err := p.client.CoreV1().Pods(namespace).List(p.Context(), metav1.ListOptions{})
	g.Expect(apierrors.IsInternalError(err)).To(BeTrue())
	down.End()
	down.End()
	g.Expect(p.create("down")).To(Succeed())
	g.Expect(down.Struck()).To(Equal(2))
}

func testDelay(p *place) {
	g := NewWithT(p)
	p.begin(faults.Delay(faults.On("create", configMaps), 700*time.Millisecond))
	began := time.Now()
	g.Expect(p.create("delayed")).To(Succeed())
	g.Expect(time.Since(began)).To(BeNumerically(">=", 700*time.Millisecond))

	late := p.begin(faults.DelayAnswer(faults.On("create", configMaps), time.Minute))
	answered := make(chan error, 1)
	go func() { answered <- p.create("answered-late") }()
	g.Eventually(func() bool { return p.exists("answered-late") }).Should(BeTrue())
	g.Consistently(answered, "500ms").ShouldNot(Receive())
	late.End()
	g.Eventually(answered).Should(Receive(Succeed()))
}

func testFreeze(p *place) {
	g := NewWithT(p)
	a := p.begin(faults.Freeze(2 * time.Second))
	ctx, cancel := context.WithTimeout(p.Context(), 500*time.Millisecond)
	defer cancel()
	g.Expect(write(ctx, p.client, "frozen")).To(MatchError(context.DeadlineExceeded))
	g.Expect(p.exists("frozen")).To(BeFalse())
	g.Expect(a.Struck()).To(Equal(1))
	g.Eventually(func() error { return p.create("frozen") }, "10s", "100ms").Should(Succeed())
}

func testHeldEvents(p *place) {
	g := NewWithT(p)
	for _, contentType := range encodings {
		w := p.watch(contentType)
		drained(w)
		a := p.begin(faults.HoldEvents(configMaps, 3*time.Second))
		one, two := "held-"+rand.String(5), "held-"+rand.String(5)
		g.Expect(p.create(one)).To(Succeed())
		g.Expect(p.create(two)).To(Succeed())
		g.Expect(drained(w)).To(BeEmpty(), contentType)
		g.Expect(a.Struck()).To(Equal(1), "the second waits behind the first")
		g.Eventually(func() []string { return drained(w) }, "10s").Should(Equal([]string{one, two}), contentType)
		p.begin(faults.HoldEvents(secrets, time.Minute))
		three := "free-" + rand.String(5)
		g.Expect(p.create(three)).To(Succeed())
		g.Expect(drained(w)).To(Equal([]string{three}))
		fromSecond, err := faults.PatternHoldEvents.At(faults.On("watch", configMaps).Nth(2))
		g.Expect(err).NotTo(HaveOccurred())
		b := p.begin(fromSecond)
		four, five := "passed-"+rand.String(5), "second-"+rand.String(5)
		g.Expect(p.create(four)).To(Succeed())
		g.Expect(drained(w)).To(Equal([]string{four}), contentType)
		g.Expect(b.Struck()).To(BeZero())
		g.Expect(p.create(five)).To(Succeed())
		g.Expect(drained(w)).To(BeEmpty(), contentType)
		g.Expect(b.Struck()).To(Equal(1))
		b.End()
		g.Eventually(func() []string { return drained(w) }, "10s").Should(Equal([]string{five}), contentType)
		w.Stop()
	}
}

func testSkippedEvents(p *place) {
	g := NewWithT(p)
	for _, contentType := range encodings {
		w, other := p.watch(contentType), p.watch(contentType)
		drained(w)
		drained(other)
		suffix := rand.String(5)
		byName := p.begin(faults.SkipEvent(configMaps, "b-"+suffix, 1))
		byNumber := p.begin(faults.SkipEvent(configMaps, "", 3))
		for _, name := range []string{"a-", "b-", "c-", "d-", "e-"} {
			g.Expect(p.create(name + suffix)).To(Succeed())
		}
		// The second event is left out by its name; of those that are left, d is the third.
		for _, one := range []watch.Interface{w, other} {
			g.Expect(drained(one)).To(Equal([]string{"a-" + suffix, "c-" + suffix, "e-" + suffix}), contentType)
			one.Stop()
		}
		g.Expect([]int{byName.Struck(), byNumber.Struck()}).To(Equal([]int{2, 2}))
	}
}

func testCutWatches(p *place) {
	g := NewWithT(p)
	w, other := p.watch(runtime.ContentTypeJSON), p.watch(runtime.ContentTypeProtobuf)
	drained(w)
	drained(other)
	none := p.begin(faults.CutWatches(secrets))
	g.Expect(none.Struck()).To(BeZero())
	a := p.begin(faults.CutWatches(configMaps))
	g.Expect(a.Struck()).To(BeNumerically(">=", 2))
	g.Expect(drained(w)).To(HaveExactElements("the end"))
	g.Expect(drained(other)).To(HaveExactElements("the end"))
}

func testExpiredWatches(p *place) {
	g := NewWithT(p)
	for _, contentType := range encodings {
		w := p.watch(contentType)
		drained(w)
		p.begin(faults.ExpireWatches(configMaps))
		g.Expect(drained(w)).To(Equal([]string{"ERROR 410", "the end"}), contentType)
	}
}

// testInformersConverge shows that clients as controllers have them see the world again.
func testInformersConverge(p *place) {
	g, ctx := NewWithT(p), p.Context()
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0, informers.WithNamespace(namespace))
	lister := factory.Core().V1().ConfigMaps().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for _, f := range []faults.Fault{
		faults.CutWatches(configMaps), faults.ExpireWatches(configMaps), faults.HoldEvents(configMaps, time.Second),
	} {
		a := p.begin(f)
		name := "seen-" + rand.String(5)
		g.Expect(write(ctx, p.straight, name)).To(Succeed())
		g.Eventually(func() error {
			_, err := lister.ConfigMaps(namespace).Get(name)
			return err
		}, "20s", "50ms").Should(Succeed(), f.String())
		g.Expect(a.Struck()).To(BeNumerically(">=", 1), f.String())
	}
}

func testNth(p *place) {
	g := NewWithT(p)
	a := p.begin(faults.LoseAnswer(faults.On("create", configMaps).Nth(2)).Times(2))
	var failed []bool
	for range 4 {
		failed = append(failed, p.create("nth-"+rand.String(5)) != nil)
	}
	g.Expect(failed).To(Equal([]bool{false, true, true, false}))
	g.Expect(a.Struck()).To(Equal(2))
}

// BenchmarkGet measures what the proxy adds to a request when no fault is on: reading an object of 1 kB, ten at a time.
func BenchmarkGet(b *testing.B) {
	p := start(b)
	token := rest.CopyConfig(p.through)
	token.Host = p.cluster.Config().Host
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "read"}, Data: map[string]string{
		"text": strings.Repeat("0123456789abcdef", 64),
	}}
	_, err := p.straight.CoreV1().ConfigMaps(namespace).Create(p.Context(), object, metav1.CreateOptions{})
	NewWithT(b).Expect(err).NotTo(HaveOccurred())
	for name, client := range map[string]kubernetes.Interface{
		"straight": kubernetes.NewForConfigOrDie(token), "through": p.client,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(5)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, err := client.CoreV1().ConfigMaps(namespace).Get(b.Context(), "read", metav1.GetOptions{})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
