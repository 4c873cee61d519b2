// Package clustertest is a test of what every backend must do. Each backend runs it.
package clustertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// Backend is the backend under test.
type Backend struct {
	Start      func(ctx context.Context, o cluster.Options) (cluster.Cluster, error)
	Kubernetes string // version, see cluster.Options
	NodeImage  string // see cluster.Options
	Kubeconfig string // see cluster.Options; the cluster is there before and after
	Registry   string // see cluster.Options
}

// Verify starts a cluster and checks what specs and providers need.
func Verify(t *testing.T, b Backend) {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	deaths := make(chan cluster.Death, 10)
	o := cluster.Options{
		Name: "verified-" + strings.ToLower(filepath.Base(t.TempDir())), Kubernetes: b.Kubernetes,
		NodeImage: b.NodeImage, Kubeconfig: b.Kubeconfig, Registry: b.Registry,
		Logs:     filepath.Join(t.TempDir(), "logs"),
		Progress: func(step string) { t.Log(step) },
		OnDeath:  func(d cluster.Death) { deaths <- d },
	}
	began := time.Now()
	c, err := b.Start(ctx, o)
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("ready after %s", time.Since(began).Round(time.Second/10))
	closed := false
	t.Cleanup(func() {
		if !closed {
			_ = c.Close(context.WithoutCancel(ctx))
		}
	})
	client := kubernetes.NewForConfigOrDie(c.Config())

	t.Run("serves the version that was asked for", func(t *testing.T) { servesVersion(t, client, b.Kubernetes) })
	if b.Kubeconfig == "" {
		t.Run("gives access to its owner alone", func(t *testing.T) { givesPrivateAccess(t, c) })
	}
	t.Run("is not started twice", func(t *testing.T) {
		_, err := b.Start(ctx, o)
		NewWithT(t).Expect(err).To(MatchError(MatchRegexp("in use by another run|another run uses it")))
	})
	t.Run("runs images in pods, and has their logs", func(t *testing.T) { runsImages(t, c, client) })
	if b.Kubeconfig == "" {
		t.Run("keeps workloads off the system's nodes", func(t *testing.T) { keepsOff(t, client) })
	}
	t.Run("has fake nodes that run pods, and end them in time", func(t *testing.T) {
		FakeNodes(t, c, client, b.Kubeconfig != "")
	})
	g.Expect(deaths).NotTo(Receive(), "nothing died meanwhile")

	began = time.Now()
	g.Expect(c.Close(ctx)).To(Succeed())
	closed = true
	t.Logf("closed in %s", time.Since(began).Round(time.Second/10))
	g.Expect(c.Close(ctx)).To(Succeed(), "twice")
	if b.Kubeconfig == "" {
		g.Expect(c.Kubeconfig()).NotTo(BeAnExistingFile())
		g.Expect(filepath.Dir(c.Kubeconfig())).NotTo(BeADirectory())
		_, err = client.Discovery().ServerVersion()
		g.Expect(err).To(HaveOccurred(), "its API server is gone")
	}
	g.Expect(os.ReadDir(o.Logs)).NotTo(BeEmpty())
	g.Consistently(deaths, "500ms").ShouldNot(Receive(), "its end is no death")
}

func servesVersion(t *testing.T, client kubernetes.Interface, asked string) {
	g := NewWithT(t)
	version, err := client.Discovery().ServerVersion()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(version.GitVersion).To(HavePrefix(asked))
}

func givesPrivateAccess(t *testing.T, c cluster.Cluster) {
	g := NewWithT(t)
	info, err := os.Stat(c.Kubeconfig())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	g.Expect(c.Config().Host).To(HavePrefix("https://127.0.0.1:"))
}

// programImage builds an image of the program in testdata.
func programImage(t *testing.T) (ref string) {
	t.Helper()
	g := NewWithT(t)
	_, file, _, _ := runtime.Caller(0)
	binary := filepath.Join(t.TempDir(), "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	build.Dir = filepath.Join(filepath.Dir(file), "testdata", "program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	ref, err = image.FromBinary(t.Context(), filepath.Join(t.TempDir(), "image"), binary, nil, "65532")
	g.Expect(err).NotTo(HaveOccurred())
	return ref
}
