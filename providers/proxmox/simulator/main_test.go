package main

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// api is a test's client. Its calls return the status and the field data.
type api struct {
	*GomegaWithT
	ctx   context.Context //nolint:containedctx // the test's
	cloud *cloud
}

// simulate runs a test on a cloud whose clock does not wait.
func simulate(t *testing.T, test func(a *api)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		times := simulator.Times{Pending: 2 * time.Second, Boot: 3 * time.Second, Ending: 2 * time.Second}
		test(&api{NewWithT(t), t.Context(), newCloud(simulator.NewBase(t.Context(), nil, times, 1))})
	})
}

func (a *api) send(r *http.Request) (int, any) {
	w := httptest.NewRecorder()
	a.cloud.handler().ServeHTTP(w, r)
	var body struct{ Data any }
	if w.Body.Len() == 0 {
		return w.Code, nil
	}
	a.Expect(json.Unmarshal(w.Body.Bytes(), &body)).To(Succeed(), w.Body.String())
	return w.Code, body.Data
}

func (a *api) call(method, path, body string) (int, any) {
	return a.send(httptest.NewRequestWithContext(a.ctx, method, path, strings.NewReader(body)))
}

// ok makes a call that must succeed, and waits for its task if it has one. It returns the data or the exit status.
func (a *api) ok(method, path, body string) any {
	status, data := a.call(method, path, body)
	a.Expect(status).To(Equal(http.StatusOK), "%s %s: %v", method, path, data)
	task, _ := data.(string)
	if !strings.HasPrefix(task, "UPID:") {
		return data
	}
	for {
		_, data = a.call("GET", "/nodes/pve-1/tasks/"+task+"/status", "")
		if s := data.(map[string]any); s["status"] == "stopped" {
			return s["exitstatus"]
		}
		<-time.After(time.Second)
	}
}

const vm100 = "/nodes/pve-1/qemu/100"

// prepare clones a VM of 4 CPUs and 16 GiB that has an image with user data.
func (a *api) prepare() {
	a.Expect(a.ok("POST", "/nodes/pve-1/qemu/9000/clone", `{"newid": 100, "name": "claim-1"}`)).To(Equal("OK"))
	a.ok("PUT", vm100+"/resize", `{"disk": "scsi0", "size": "40G"}`)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	file, err := w.CreateFormFile("filename", "user-data-100.iso")
	a.Expect(err).NotTo(HaveOccurred())
	_, err = file.Write([]byte("CD001\x00\x00#cloud-config\nwrite_files:\n- path: /etc/karpenter.yaml\n  content: |\n" +
		"    kubernetes: {kubeletconfiguration: {kubeReserved: {cpu: 100m}, evictionHard: {memory.available: 1Gi},\n" +
		"      registerWithTaints: [{key: unregistered, effect: NoExecute}]}}\n\x00\x00hostname: claim-1\n"))
	a.Expect(err).NotTo(HaveOccurred())
	a.Expect(w.Close()).To(Succeed())
	r := httptest.NewRequestWithContext(a.ctx, http.MethodPost, "/nodes/pve-1/storage/local/upload", &body)
	r.Header.Set("Content-Type", w.FormDataContentType())
	status, _ := a.send(r)
	a.Expect(status).To(Equal(http.StatusOK))
	a.ok("POST", vm100+"/config", `{"cores": "4", "memory": "16384", "ide2": "local:iso/user-data-100.iso,media=cdrom",
		"smbios1": "base64=1,sku=czEuNFZDUFUtMTZHQg==,uuid=0"}`)
}

// listed returns the power of VM 100 in the cluster's list, or nothing.
func (a *api) listed() string {
	for _, r := range a.ok("GET", "/cluster/resources?type=vm", "").([]any) {
		if v := r.(map[string]any); v["name"] == "claim-1" {
			return v["status"].(string)
		}
	}
	return ""
}

func TestAVMIsClonedStartedAndDestroyed(t *testing.T) {
	simulate(t, func(a *api) {
		a.prepare()
		a.Expect(a.listed()).To(Equal("stopped"))
		a.Expect(a.cloud.ProviderIDs()).To(Equal([]string{"proxmox://plumbline/100"}))
		a.Expect(a.ok("POST", vm100+"/status/start", "")).To(Equal("OK"))
		a.Expect(a.listed()).To(Equal("running"))
		status, _ := a.call("DELETE", vm100, "")
		a.Expect(status).To(Equal(http.StatusInternalServerError), "a VM that runs is not destroyed")
		a.ok("POST", vm100+"/status/stop", "")
		a.Expect(a.ok("DELETE", vm100, "")).To(Equal("OK"))
		a.Expect(a.listed()).To(BeEmpty())
		a.Expect(a.cloud.ProviderIDs()).To(BeEmpty())
	})
}

func TestStaleListsAreOfAllVMs(t *testing.T) {
	simulate(t, func(a *api) {
		a.Expect(a.cloud.base.Faults.Add(simulator.Fault{Kind: simulator.Stale, By: 10 * time.Second})).To(Succeed())
		a.prepare()
		a.Expect(a.listed()).To(BeEmpty())
		a.Expect(a.ok("GET", vm100+"/status/current", "")).To(HaveKeyWithValue("status", "stopped"), "as it is")
		<-time.After(10 * time.Second)
		a.ok("POST", vm100+"/status/start", "")
		a.Expect(a.listed()).To(Equal("stopped"))
		<-time.After(10 * time.Second)
		a.Expect(a.listed()).To(Equal("running"))
	})
}

func TestANodeIsWhatItsVMAndItsImageSay(t *testing.T) {
	simulate(t, func(a *api) {
		a.prepare()
		a.ok("POST", vm100+"/status/start", "")
		m, _, _ := a.cloud.Get("100")
		n, err := m.Node()
		a.Expect(err).NotTo(HaveOccurred())
		a.Expect(n.Name).To(Equal("claim-1"))
		a.Expect(n.ProviderID).To(Equal("proxmox://plumbline/100"))
		a.Expect(n.Taints).To(Equal([]corev1.Taint{{Key: "unregistered", Effect: "NoExecute"}}))
		a.Expect(n.Labels).To(HaveKeyWithValue(corev1.LabelTopologyZone, "pve-1"))
		a.Expect(m.Labels()).To(HaveKeyWithValue(corev1.LabelInstanceTypeStable, "s1.4VCPU-16GB"))
		left := map[corev1.ResourceName]string{"cpu": "3900m", "memory": "15Gi", "ephemeral-storage": "40Gi"}
		for name, want := range left {
			got := n.Allocatable[name]
			a.Expect(got.Cmp(resource.MustParse(want))).To(BeZero(), "%s is %s", name, got.String())
		}
	})
}

func TestAVMIsLockedWhileItIsCloned(t *testing.T) {
	simulate(t, func(a *api) {
		a.call("POST", "/nodes/pve-1/qemu/9000/clone", `{"newid": 100, "name": "claim-1"}`)
		for _, call := range [][2]string{{"DELETE", vm100}, {"POST", vm100 + "/config"}, {"POST", vm100 + "/status/start"}} {
			status, _ := a.call(call[0], call[1], "")
			a.Expect(status).To(Equal(http.StatusInternalServerError), "%v", call)
		}
	})
}

func TestEachImageIsNew(t *testing.T) {
	simulate(t, func(a *api) {
		seen := map[any]bool{}
		for range 3 {
			seen[a.ok("GET", "/nodes/pve-1/qemu/9000/config", "").(map[string]any)["meta"]] = true
			a.cloud.install()
		}
		a.Expect(seen).To(HaveLen(3))
	})
}

func TestAnIDIsGivenOnce(t *testing.T) {
	simulate(t, func(a *api) {
		a.Expect(a.ok("GET", "/cluster/nextid?vmid=100", "")).To(Equal("100"))
		a.prepare()
		status, _ := a.call("POST", "/nodes/pve-1/qemu/9000/clone", `{"newid": 100, "name": "claim-2"}`)
		a.Expect(status).To(Equal(http.StatusInternalServerError))
		a.Expect(a.ok("DELETE", vm100, "")).To(Equal("OK"))
		status, _ = a.call("GET", "/cluster/nextid?vmid=100", "")
		a.Expect(status).To(Equal(http.StatusBadRequest))
		a.Expect(a.ok("GET", "/cluster/nextid?vmid=101", "")).To(Equal("101"))
		a.cloud.freeIDs()
		a.Expect(a.ok("GET", "/cluster/nextid?vmid=100", "")).To(Equal("100"))
	})
}

func TestAHostWithoutMemoryStartsNothing(t *testing.T) {
	simulate(t, func(a *api) {
		a.prepare()
		a.Expect(a.cloud.base.Faults.Add(simulator.Fault{
			Kind: simulator.NoCapacity, Offering: simulator.Offering{Zone: "pve-1"},
		})).To(Succeed())
		a.Expect(a.ok("POST", vm100+"/status/start", "")).To(ContainSubstring("Cannot allocate memory"))
		a.Expect(a.listed()).To(Equal("stopped"))
		a.Expect(a.ok("DELETE", vm100, "")).To(Equal("OK"))
	})
}

func TestABusyClusterAnswersWithoutABody(t *testing.T) {
	simulate(t, func(a *api) {
		a.Expect(a.cloud.base.Faults.Add(simulator.Fault{Kind: simulator.Throttle, Count: 1})).To(Succeed())
		status, data := a.call("GET", "/nodes/pve-1/network", "")
		a.Expect(status).To(Equal(596))
		a.Expect(data).To(BeNil())
		a.Expect(a.ok("GET", "/nodes/pve-1/network", "")).To(HaveLen(1))
	})
}

func TestACallThatFailedAndWasDoneYetAnswersAnError(t *testing.T) {
	simulate(t, func(a *api) {
		fault := simulator.Fault{Kind: simulator.FailedYetDone, Count: 1, By: time.Second}
		a.Expect(a.cloud.base.Faults.Add(fault)).To(Succeed())
		status, _ := a.call("GET", "/nodes/pve-1/network", "")
		a.Expect(status).To(Equal(http.StatusInternalServerError))
	})
}

func TestUnknownCallsAreCounted(t *testing.T) {
	simulate(t, func(a *api) {
		status, _ := a.call("GET", "/cluster/ceph", "")
		a.Expect(status).To(Equal(http.StatusNotImplemented))
		a.Expect(a.cloud.base.Journal.Unknown()).To(Equal([]string{"GET /cluster/ceph"}))
	})
}
