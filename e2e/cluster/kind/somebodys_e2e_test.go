//go:build e2e

package kind

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/tools/clientcmd"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/clustertest"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/existing"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// TestOnSomebodysKindCluster uses K8S and NODE_IMAGE, and needs Docker. The cluster's one node
// takes any pod, and the system's daemons run on every node.
func TestOnSomebodysKindCluster(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, nodeImage := selected(t)
	if chosen := os.Getenv(engineVariable); chosen != "" && chosen != "docker" {
		t.Skipf("its cluster and its registry are containers of Docker's, not %s's", chosen)
	}
	if out, err := exec.CommandContext(ctx, "docker", "info").CombinedOutput(); err != nil {
		t.Skipf("Docker does not answer: %s", out)
	}
	cache, err := build.Open(func(step string) { t.Log(step) })
	g.Expect(err).NotTo(HaveOccurred())
	kubeconfig, node := foreignKind(t, nodeImage)
	registry := registryFor(t, node)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	g.Expect(err).NotTo(HaveOccurred())
	clustertest.Settled(t, config)
	before := clustertest.Everything(t, config)
	version, err := existing.Kubernetes(kubeconfig, "")
	g.Expect(err).NotTo(HaveOccurred())

	clustertest.Verify(t, clustertest.Backend{
		Kubernetes: version, Kubeconfig: kubeconfig, Registry: registry,
		Start: func(ctx context.Context, o cluster.Options) (cluster.Cluster, error) {
			return existing.Start(ctx, cache, o)
		},
	})
	g.Eventually(func() []string {
		return clustertest.Differences(before, clustertest.Everything(t, config))
	}, "20s", "200ms").Should(BeEmpty())

	// Run a spec of each behavior, and check that they leave nothing.
	specs := exec.CommandContext(ctx, "go", "test", "-tags", "e2e", "-count=1", "-timeout=0", "-v", "-run",
		"Exists$", "../..")
	specs.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "REGISTRY="+registry, "NODE_IMAGE=")
	out, err := specs.CombinedOutput()
	t.Logf("%s", out)
	g.Expect(err).NotTo(HaveOccurred())
}

// foreignKind returns an unmodified kind cluster and its node.
func foreignKind(t *testing.T, nodeImage string) (kubeconfig string, node nodes.Node) {
	t.Helper()
	g := NewWithT(t)
	library, name := kindcluster.NewProvider(kindcluster.ProviderWithDocker()), "somebodys-"+rand.String(5)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	t.Cleanup(func() { g.Expect(library.Delete(name, kubeconfig)).To(Succeed()) })
	g.Expect(library.Create(name, kindcluster.CreateWithNodeImage(nodeImage),
		kindcluster.CreateWithKubeconfigPath(kubeconfig),
		kindcluster.CreateWithWaitForReady(2*time.Minute))).To(Succeed())
	all, err := library.ListNodes(name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(HaveLen(1))
	return kubeconfig, all[0]
}

// registryFor runs a registry in a container beside the node. The test and the node reach it
// at the same loopback port.
func registryFor(t *testing.T, node nodes.Node) (path string) {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "registry"), "./testdata/registry")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	ref, err := image.FromBinary(t.Context(), filepath.Join(dir, "image"), filepath.Join(dir, "registry"), nil, "")
	g.Expect(err).NotTo(HaveOccurred())
	img, err := image.Open(t.Context(), ref)
	g.Expect(err).NotTo(HaveOccurred())
	name := "plumbline-registry-" + rand.String(5)
	var archive bytes.Buffer
	g.Expect(image.Archive(img, "plumbline.local/"+name+":latest", &archive)).To(Succeed())
	docker := func(stdin *bytes.Buffer, args ...string) string {
		command := exec.Command("docker", args...)
		if stdin != nil {
			command.Stdin = stdin
		}
		out, err := command.CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), string(out))
		return strings.TrimSpace(string(out))
	}
	docker(&archive, "load")
	t.Cleanup(func() {
		docker(nil, "rm", "--force", "--volumes", name)
		docker(nil, "rmi", "plumbline.local/"+name+":latest")
	})
	docker(nil, "run", "--detach", "--name", name, "--net", "kind", "--publish", "127.0.0.1::5000", "plumbline.local/"+
		name+":latest")
	published := docker(nil, "port", name, "5000/tcp")
	address := docker(nil, "inspect", "--format", "{{.NetworkSettings.Networks.kind.IPAddress}}", name)
	hosts := fmt.Sprintf("mkdir -p /etc/containerd/certs.d/%[1]s && echo '[host.\"http://%[2]s:5000\"]' "+
		">/etc/containerd/certs.d/%[1]s/hosts.toml", published, address)
	g.Expect(node.Command("sh", "-c", hosts).Run()).To(Succeed())
	return published + "/team"
}
