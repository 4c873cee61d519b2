package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

func TestTwoRunsCannotHaveTheSameCluster(t *testing.T) {
	g := NewWithT(t)
	cache := t.TempDir()
	mine, err := newFolder(t.Context(), cache, "one")
	g.Expect(err).NotTo(HaveOccurred())
	info, err := os.Stat(mine.Dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o700)))

	_, err = newFolder(t.Context(), cache, "one")
	g.Expect(err).To(MatchError(ContainSubstring(`a cluster named "one" is in use by another run`)))

	g.Expect(remove(t.Context(), mine)).To(Succeed())
	again, err := newFolder(t.Context(), cache, "one")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(remove(t.Context(), again)).To(Succeed())
}

func TestNamesAndPathsThatCannotWork(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"", "Two", "../two", "a b", ".lock"} {
		_, err := newFolder(t.Context(), t.TempDir(), name)
		g.Expect(err).To(MatchError(ContainSubstring("cluster name %q: ", name)))
	}
	_, err := newFolder(t.Context(), filepath.Join(t.TempDir(), "My Cache"), "one")
	g.Expect(err).To(MatchError(ContainSubstring("set PLUMBLINE_CACHE to a path without")))
}

// abandon makes what a killed run leaves: a folder with a running program and no lock.
func abandon(t *testing.T, cache, name string) (*owned.Folder, process.Process) {
	t.Helper()
	f, err := newFolder(t.Context(), cache, name)
	if err != nil {
		t.Fatal(err)
	}
	original, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(original, f.Path("etcd")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(f.Path("etcd"), "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p, err := process.Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	f.Release()
	return f, p
}

func TestReapEndsWhatDeadRunsLeftAndNothingElse(t *testing.T) {
	g := NewWithT(t)
	cache := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())

	dead, orphan := abandon(t, cache, "dead")
	kubeconfig := filepath.Join(os.TempDir(), "kwok-cluster-dead-kubecfg123")
	g.Expect(os.WriteFile(kubeconfig, nil, 0o600)).To(Succeed())
	others := filepath.Join(os.TempDir(), "kwok-cluster-deadly-kubecfg123")
	g.Expect(os.WriteFile(others, nil, 0o600)).To(Succeed())

	bystander := exec.Command("tail", "-f", dead.Path("lock"))
	g.Expect(bystander.Start()).To(Succeed())
	t.Cleanup(func() { _ = bystander.Process.Kill(); _ = bystander.Wait() })
	reader, err := process.Find(bystander.Process.Pid)
	g.Expect(err).NotTo(HaveOccurred())

	living, its := abandon(t, cache, "living")
	lock, err := filelock.Try(living.Path("lock"))
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(removeDead(t.Context(), cache)).To(Equal([]string{"dead"}))
	// A killed process has no arguments any more, by which it would be found, shortly before it is gone.
	g.Eventually(orphan.Alive).Should(BeFalse())
	g.Expect(dead.Dir).NotTo(BeADirectory())
	g.Expect(kubeconfig).NotTo(BeAnExistingFile())

	g.Expect(reader.Alive()).To(BeTrue(), "it only looks at a file there")
	g.Expect(others).To(BeAnExistingFile())
	g.Expect(its.Alive()).To(BeTrue())
	g.Expect(living.Dir).To(BeADirectory())

	g.Expect(removeDead(t.Context(), cache)).To(BeEmpty())
	lock.Release()
	g.Expect(removeDead(t.Context(), cache)).To(Equal([]string{"living"}))
	g.Eventually(its.Alive).Should(BeFalse())
}

func TestReapOfACacheThatIsNew(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("PLUMBLINE_CACHE", t.TempDir())
	g.Expect(Reap(t.Context())).To(BeEmpty())
}
