package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// world is a management cluster, and the hooks of the simulator that works on it.
type world struct {
	*WithT
	t     *testing.T
	api   dynamic.Interface
	hooks http.Handler
}

// simulated runs a test on a simulator whose time passes at once.
func simulated(t *testing.T, test func(w world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		api := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
			deployments: "MachineDeploymentList", machines: "MachineList", namespaces: "NamespaceList",
		})
		b := simulator.NewBase(t.Context(), nil, simulator.Times{Pending: 2 * time.Second, Ending: 2 * time.Second}, 1)
		cloud, err := start(b, api, offers(false), 40*time.Second)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		test(world{NewWithT(t), t, api, b.Handler(cloud)})
	})
}

// scale sets the replicas of general-02 in zone-a and lets some time pass.
func (w world) scale(replicas string, pass time.Duration) {
	w.t.Helper()
	_, err := w.api.Resource(deployments).Namespace("zone-a").Patch(w.t.Context(), "general-02", apitypes.MergePatchType,
		[]byte(`{"spec":{"replicas":`+replicas+`}}`), metav1.PatchOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.pass(pass)
}

// pass lets time pass.
func (w world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// machines returns the names and provider IDs of all Machines.
func (w world) machines() map[string]string {
	w.t.Helper()
	list, err := w.api.Resource(machines).List(w.t.Context(), metav1.ListOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	all := map[string]string{}
	for _, m := range list.Items {
		all[m.GetName()] = providerID(&m)
	}
	return all
}

// hook calls a hook, whose status must be as wanted, and returns the answer.
func (w world) hook(method, path string, status int) string {
	w.t.Helper()
	answer := httptest.NewRecorder()
	w.hooks.ServeHTTP(answer, httptest.NewRequestWithContext(w.t.Context(), method, path, nil))
	w.Expect(answer.Code).To(Equal(status), answer.Body.String())
	return answer.Body.String()
}

func (w world) mark(machine string) {
	w.t.Helper()
	_, err := w.api.Resource(machines).Namespace("zone-a").Patch(w.t.Context(), machine, apitypes.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"`+deleteAnnotation+`":"now"}}}`), metav1.PatchOptions{})
	w.Expect(err).NotTo(HaveOccurred())
}

func TestReplicasBecomeMachinesWithProviderIDs(t *testing.T) {
	simulated(t, func(w world) {
		w.scale("2", time.Second)
		w.Expect(w.machines()).To(Equal(map[string]string{"general-02-1": "", "general-02-2": ""}))
		w.pass(2 * time.Second)
		w.Expect(w.machines()).To(Equal(map[string]string{
			"general-02-1": "simulated://zone-a/general-02-1", "general-02-2": "simulated://zone-a/general-02-2",
		}))
		w.Expect(w.hook(http.MethodGet, "/_sim/instances", http.StatusOK)).
			To(ContainSubstring("simulated://zone-a/general-02-1"))
	})
}

func TestMarkedMachinesGoFirst(t *testing.T) {
	for range 5 { // the others are chosen at random
		simulated(t, func(w world) {
			w.scale("4", 5*time.Second)
			w.mark("general-02-3")
			w.scale("2", 5*time.Second)
			w.Expect(w.machines()).To(And(HaveLen(2), Not(HaveKey("general-02-3"))))
		})
	}
}

func TestAMachineThatIsDeletedIsReplaced(t *testing.T) {
	simulated(t, func(w world) {
		w.scale("1", 5*time.Second)
		w.hook(http.MethodDelete, "/_sim/instances?id=simulated://zone-a/general-02-1", http.StatusOK)
		w.pass(5 * time.Second)
		w.Expect(w.machines()).To(Equal(map[string]string{"general-02-2": "simulated://zone-a/general-02-2"}))
	})
}

func TestARolloutReplacesOneByOne(t *testing.T) {
	simulated(t, func(w world) {
		w.scale("2", 5*time.Second)
		w.hook(http.MethodPost, "/_sim/roll?id=simulated://zone-a/general-02-1", http.StatusOK)
		w.pass(time.Second)
		w.Expect(w.machines()).To(HaveLen(3))
		w.pass(10 * time.Second)
		w.Expect(w.machines()).To(And(HaveLen(2), HaveKey("general-02-3"), HaveKey("general-02-4")))
	})
}

func TestMachinesAreLateOrNeverReady(t *testing.T) {
	for fault, want := range map[string]struct {
		after   time.Duration
		machine types.GomegaMatcher
	}{
		"kind=lost&call=create&count=1":      {30 * time.Second, BeEmpty()},
		"kind=slow&by=30s&call=provision":    {20 * time.Second, Equal(map[string]string{"general-02-1": ""})},
		"kind=silent&call=provision&count=1": {time.Hour, Equal(map[string]string{"general-02-1": ""})},
		"kind=noCapacity&zone=zone-a":        {time.Hour, Equal(map[string]string{"general-02-1": ""})},
		"kind=noCapacity&zone=zone-b": {
			time.Hour, Equal(map[string]string{"general-02-1": "simulated://zone-a/general-02-1"}),
		},
	} {
		simulated(t, func(w world) {
			w.hook(http.MethodPost, "/_sim/faults?"+fault, http.StatusOK)
			w.scale("1", want.after)
			w.Expect(w.machines()).To(want.machine, fault)
		})
	}
}

func TestRoomIsTheGreatestSizeUntilTheReset(t *testing.T) {
	simulated(t, func(w world) {
		sizes := func() (all []string) {
			list, err := w.api.Resource(deployments).Namespace("zone-a").List(t.Context(), metav1.ListOptions{})
			w.Expect(err).NotTo(HaveOccurred())
			for _, d := range list.Items {
				all = append(all, d.GetAnnotations()[maxSizeAnnotation])
			}
			slices.Sort(all)
			return slices.Compact(all)
		}
		w.scale("3", time.Second)
		w.Expect(w.hook(http.MethodPut, "/_sim/room?zone=zone-a&machines=0", http.StatusOK)).
			To(ContainSubstring("zone-a/general-02"))
		w.Expect(sizes()).To(Equal([]string{"0", "3"}))
		w.hook(http.MethodPost, "/_sim/reset", http.StatusOK)
		w.Expect(sizes()).To(Equal([]string{""}))
		w.Expect(w.hook(http.MethodPut, "/_sim/room?machines=-1", http.StatusBadRequest)).To(ContainSubstring("?machines=-1"))
	})
}

func TestNodesAreWhatTheirMachineDeploymentsAnnounce(t *testing.T) {
	g := NewWithT(t)
	d := deployment(offer{sizes()["general-04"], "general-04", "zone-b", "general-04-b"})
	m := &machine{namespace: "zone-b", name: "general-04-1", annotations: d.GetAnnotations()}
	node, err := m.Node()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(node.Name).To(Equal("general-04-1.zone-b"))
	g.Expect(node.Labels).To(HaveKeyWithValue(corev1.LabelTopologyZone, "zone-b"))
	g.Expect(node.Labels).NotTo(HaveKey(capacityTypeLabel))
	g.Expect(m.Labels()).To(HaveKeyWithValue(capacityTypeLabel, "on-demand"))
	g.Expect(node.Allocatable.Cpu().Value()).To(Equal(int64(4)))
	g.Expect(node.Allocatable.Pods().Value()).To(Equal(int64(110)))
	m.annotations[capacityPrefix+"cpu"] = "many"
	_, err = m.Node()
	g.Expect(err).To(MatchError(ContainSubstring(`"many" is not a quantity`)))
}

func TestMachinesBelongToTheirMachineDeployment(t *testing.T) {
	g := NewWithT(t)
	d := deployment(offer{sizes()["general-04"], "general-04", "zone-b", "general-04-b"})
	d.SetUID("u")
	m := newMachine(d, 7)
	g.Expect(m.GetName()).To(Equal("general-04-7"))
	g.Expect(m.GetLabels()).To(HaveKeyWithValue(deploymentLabel, "general-04"))
	g.Expect(m.GetOwnerReferences()[0].UID).To(Equal(apitypes.UID("u")))
	cluster, _, _ := unstructured.NestedString(m.Object, "spec", "clusterName")
	g.Expect(cluster).To(Equal(clusterName))
}

func TestZonesHaveTheSameTypesOnlyIfAsked(t *testing.T) {
	for sameTypes, want := range map[bool]int{true: len(sizes()), false: len(sizes()) * len(zones())} {
		types := map[string]bool{}
		for _, o := range offers(sameTypes) {
			types[o.instanceType] = true
		}
		NewWithT(t).Expect(types).To(HaveLen(want))
	}
}
