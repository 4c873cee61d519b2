package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/build/launch"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

func TestKwokctlsConfiguration(t *testing.T) {
	g := NewWithT(t)
	taken := map[string]int{etcd: 1, etcdPeer: 2, apiserver: 3, controllerManager: 4, scheduler: 5, kwokController: 6}
	out, err := kwokctlConfig("v1.36.3", "/pki", programs{kubernetes: "/k8s", etcd: "/etcd", kwok: "/kwok"}, taken,
		cluster.Options{Leaps: true})
	g.Expect(err).NotTo(HaveOccurred())
	var doc struct {
		Options           map[string]any
		ComponentsPatches []patch
	}
	g.Expect(yaml.UnmarshalStrict(out, &struct {
		Kind, APIVersion  string
		Options           *map[string]any
		ComponentsPatches *[]patch
	}{Options: &doc.Options, ComponentsPatches: &doc.ComponentsPatches})).To(Succeed())

	g.Expect(doc.Options).To(And(
		HaveKeyWithValue("bindAddress", "127.0.0.1"),
		HaveKeyWithValue("kubeVersion", "v1.36.3"),
		HaveKeyWithValue("kubeApiserverBinary", "/k8s/kube-apiserver"),
		HaveKeyWithValue("etcdPeerPort", BeEquivalentTo(2)),
		HaveKeyWithValue("kwokControllerPort", BeEquivalentTo(6)),
		HaveKeyWithValue("nodeStatusUpdateFrequencyMilliseconds", BeNumerically(">", time.Hour.Milliseconds())),
	))
	arguments := map[string][]argument{}
	for _, p := range doc.ComponentsPatches {
		arguments[p.Name] = p.ExtraArgs
	}
	g.Expect(arguments[controllerManager]).To(ContainElement(argument{"leader-elect", "false"}))
	g.Expect(arguments[controllerManager]).To(ContainElement(argument{"node-monitor-grace-period", "24h0m0s"}))
	g.Expect(arguments[apiserver]).To(ContainElement(argument{"etcd-compaction-interval", "0"}))
	g.Expect(arguments[scheduler]).To(ContainElement(argument{"leader-elect", "false"}))
	g.Expect(arguments[kwokController]).To(Equal([]argument{
		{"manage-all-nodes", "false"},
		{"manage-nodes-with-annotation-selector", "kwok.x-k8s.io/node=fake"},
		{"manage-nodes-with-label-selector", "!plumbline.test/silent"},
	}))
}

func TestEventsOutlastQuietMinutesWhereTimeIsBent(t *testing.T) {
	g := NewWithT(t)
	arguments := func(o cluster.Options) []argument {
		all := patches("/pki", o)
		return all[slices.IndexFunc(all, func(p patch) bool { return p.Name == apiserver })].ExtraArgs
	}
	g.Expect(arguments(cluster.Options{Clock: &clock.Clock{}})).
		To(ContainElement(argument{"etcd-compaction-interval", "1h0m0s"}))
	g.Expect(arguments(cluster.Options{})).NotTo(ContainElement(HaveField("Key", "etcd-compaction-interval")))
}

func TestEverythingThatListensHasAPortOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	p := newPorts(t.TempDir())
	defer p.release()
	taken, err := allocate(p)
	g.Expect(err).NotTo(HaveOccurred())
	different := map[int]bool{}
	for _, port := range taken {
		different[port] = true
	}
	g.Expect(different).To(HaveLen(6))
}

func TestTheFolderOfAClusterIsAllThatKwokctlKnows(t *testing.T) {
	g := NewWithT(t)
	f := &owned.Folder{Name: "one", Dir: t.TempDir()}
	logs := t.TempDir()
	kwok := t.TempDir()
	// A kwokctl that prints its environment.
	g.Expect(os.WriteFile(filepath.Join(kwok, "kwokctl"),
		[]byte("#!/bin/sh\nenv; echo \"$@\"; kubectl get --raw /healthz && echo ok\n"), 0o700)).To(Succeed())
	starter, err := launch.Starter(t.Context(), &build.Cache{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	k, err := install(f, programs{kwok: kwok, starter: starter}, logs)
	g.Expect(err).NotTo(HaveOccurred())

	t.Setenv("KWOK_RUNTIME", "docker")
	t.Setenv("KUBECONFIG", "/home/me/.kube/config")
	out, err := run(t, k.program, "get", "clusters")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(And(
		ContainSubstring("HOME="+f.Dir+"\n"),
		ContainSubstring("KWOK_WORKDIR="+f.Path("kwok")+"\n"),
		ContainSubstring("TMPDIR="+f.Path("tmp")+"\n"),
		Not(ContainSubstring("docker")), Not(ContainSubstring("KUBECONFIG")),
		ContainSubstring("get clusters\n"),
		HaveSuffix("ok\n"),
	))

	g.Expect(os.WriteFile(k.logFile(etcd), []byte("hello"), 0o600)).To(Succeed())
	g.Expect(filepath.Join(logs, "etcd.log")).To(BeARegularFile())
}

func run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	return string(out), err
}
