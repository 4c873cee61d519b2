//go:build e2e

package local

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/clustertest"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// version returns the Kubernetes version under test: $K8S, or the newest.
func version(t *testing.T) string {
	t.Helper()
	minor := os.Getenv("K8S")
	if minor == "" {
		minor = "1.36"
	}
	v, err := build.Kubernetes(minor)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// cache returns a cache with the programs of the user's cache and only the test's clusters.
func cache(t *testing.T) *build.Cache {
	t.Helper()
	users, err := build.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(users.Dir, "build"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &build.Cache{Dir: t.TempDir(), Progress: func(line string) { t.Log(line) }}
	if err := os.Symlink(filepath.Join(users.Dir, "build"), filepath.Join(c.Dir, "build")); err != nil {
		t.Fatal(err)
	}
	return c
}

// pid waits for a component's process ID and returns it.
func pid(g Gomega, c *build.Cache, name, component string) int {
	k := kwokctl{folder: &owned.Folder{Name: name, Dir: filepath.Join(clusters(c.Dir), name)}}
	var id int
	g.Eventually(func() (err error) {
		content, err := os.ReadFile(k.pidFile(component))
		if err == nil {
			id, err = strconv.Atoi(string(content))
		}
		return err
	}, "10s", "5ms").Should(Succeed())
	return id
}

func TestWhatEveryBackendDoes(t *testing.T) {
	c := cache(t)
	clustertest.Verify(t, clustertest.Backend{
		Kubernetes: version(t),
		Start:      func(ctx context.Context, o cluster.Options) (cluster.Cluster, error) { return Start(ctx, c, o) },
	})
}

func TestAClusterFromStartToClose(t *testing.T) {
	g := NewWithT(t)
	c, logs := cache(t), filepath.Join(t.TempDir(), "logs")
	_, err := binaries(t.Context(), c, version(t)) // the go command needs the user's home
	g.Expect(err).NotTo(HaveOccurred())
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", filepath.Join(home, "config"))
	t.Setenv("KWOK_RUNTIME", "docker")
	t.Setenv("TMPDIR", t.TempDir())
	deaths := make(chan cluster.Death, 10)
	begin := time.Now()
	up, err := Start(t.Context(), c, cluster.Options{
		Name: "one", Kubernetes: version(t), Logs: logs,
		Progress: func(line string) { t.Log(line) },
		OnDeath:  func(d cluster.Death) { deaths <- d },
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("started in %s", time.Since(begin))
	t.Cleanup(func() { _ = up.Close(context.WithoutCancel(t.Context())) })

	dir := filepath.Join(clusters(c.Dir), "one")
	kubeconfig := up.(interface{ Kubeconfig() string }).Kubeconfig()
	for path, mode := range map[string]os.FileMode{dir: 0o700, kubeconfig: 0o600} {
		info, err := os.Stat(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(mode), path)
	}
	g.Expect(os.ReadDir(home)).To(BeEmpty(), "the user's home is none of ours")
	g.Expect(os.ReadDir(os.TempDir())).To(BeEmpty())

	port, err := up.Port(8080)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(isFree(port)).To(BeTrue())

	g.Consistently(deaths, "1s").ShouldNot(Receive())
	victim := pid(g, c, "one", scheduler)
	begin = time.Now()
	g.Expect(syscall.Kill(victim, syscall.SIGKILL)).To(Succeed())
	var d cluster.Death
	g.Eventually(deaths, "1s", "1ms").Should(Receive(&d))
	t.Logf("death noticed after %s", time.Since(begin))
	g.Expect(d.Component).To(Equal(scheduler))
	g.Expect(d.LastLines).To(ContainElement(ContainSubstring("Starting Kubernetes Scheduler")))

	begin = time.Now()
	g.Expect(up.Close(t.Context())).To(Succeed())
	t.Logf("closed in %s", time.Since(begin))
	g.Expect(process.Within(dir)).To(BeEmpty())
	g.Expect(dir).NotTo(BeADirectory())
	g.Expect(up.Close(t.Context())).To(Succeed())
	g.Consistently(deaths, "500ms").ShouldNot(Receive())
	for _, name := range components() {
		g.Expect(filepath.Join(logs, name+".log")).To(BeARegularFile())
	}
}
