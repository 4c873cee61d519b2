//go:build e2e

package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// TestOwner is no test, but the process that the next test kills.
func TestOwner(t *testing.T) {
	dir := os.Getenv("PLUMBLINE_TEST_OWNER")
	if dir == "" {
		t.Skip("only run by TestAKilledRunIsCleanedUpAfter")
	}
	_, err := Start(t.Context(), &build.Cache{Dir: dir}, cluster.Options{Name: "killed", Kubernetes: version(t)})
	fmt.Println("READY", err) //nolint:forbidigo // its output is what the next test reads
	<-t.Context().Done()
}

func TestAKilledRunIsCleanedUpAfter(t *testing.T) {
	g := NewWithT(t)
	c := cache(t)
	owner := exec.Command(os.Args[0], "-test.run=^TestOwner$", "-test.v")
	owner.Env = append(os.Environ(), "PLUMBLINE_TEST_OWNER="+c.Dir)
	out, err := owner.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(owner.Start()).To(Succeed())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "READY") {
			g.Expect(lines.Text()).To(Equal("READY <nil>"))
			break
		}
	}
	dir := filepath.Join(clusters(c.Dir), "killed")
	g.Expect(process.Within(dir)).To(HaveLen(len(components())))
	g.Expect(removeDead(t.Context(), c.Dir)).To(BeEmpty(), "its owner lives")

	g.Expect(owner.Process.Kill()).To(Succeed())
	_ = owner.Wait()
	g.Expect(process.Within(dir)).NotTo(BeEmpty(), "else this test shows nothing")
	begin := time.Now()
	g.Expect(removeDead(t.Context(), c.Dir)).To(Equal([]string{"killed"}))
	t.Logf("cleaned up in %s", time.Since(begin))
	g.Expect(process.Within(dir)).To(BeEmpty())
	g.Expect(dir).NotTo(BeADirectory())
}

func TestAPortThatWasTakenMeanwhile(t *testing.T) {
	for _, component := range []string{etcdPeer, apiserver, kwokController} {
		t.Run(component, func(t *testing.T) {
			g := NewWithT(t)
			c := cache(t)
			f, err := newFolder(t.Context(), c.Dir, "one")
			g.Expect(err).NotTo(HaveOccurred())
			l := &local{folder: f, ports: newPorts(c.Dir)}
			l.taken, err = allocate(l.ports)
			g.Expect(err).NotTo(HaveOccurred())
			thief, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", l.taken[component]))
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = thief.Close() }()

			bin, err := binaries(t.Context(), c, version(t))
			g.Expect(err).NotTo(HaveOccurred())
			begin := time.Now()
			err = l.start(t.Context(), bin, cluster.Options{Kubernetes: version(t), Logs: t.TempDir()})
			t.Logf("after %s: %v", time.Since(begin), err)
			g.Expect(err).To(MatchError(ContainSubstring("%s can't listen on port %d", strings.TrimSuffix(component, " peer"),
				l.taken[component])))
			g.Expect(l.Close(t.Context())).To(Succeed())
			g.Expect(process.Within(f.Dir)).To(BeEmpty())
		})
	}
}

// On a busy machine the API server takes more than the controller manager's limit of ten
// seconds.
func TestASlowAPIServer(t *testing.T) {
	g := NewWithT(t)
	c := cache(t)
	started := make(chan error, 1)
	go func() {
		up, err := Start(t.Context(), c, cluster.Options{Name: "slow", Kubernetes: version(t)})
		if err == nil {
			err = up.Close(t.Context())
		}
		started <- err
	}()
	server := pid(g, c, "slow", apiserver)
	g.Expect(syscall.Kill(server, syscall.SIGSTOP)).To(Succeed())
	manager := pid(g, c, "slow", controllerManager)
	g.Eventually(func() error { _, err := process.Find(manager); return err }, "30s").Should(MatchError(process.ErrNone))
	g.Expect(syscall.Kill(server, syscall.SIGCONT)).To(Succeed())
	g.Eventually(started, "60s").Should(Receive(BeNil()))
}

func TestCancellingAStartLeavesNothing(t *testing.T) {
	for _, when := range []time.Duration{300 * time.Millisecond, time.Second, 2 * time.Second} {
		t.Run(when.String(), func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("TMPDIR", t.TempDir())
			c := cache(t)
			why := errors.New("interrupted")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(when, func() { cancel(why) })
			_, err := Start(ctx, c, cluster.Options{Name: "one", Kubernetes: version(t)})
			g.Expect(err).To(MatchError(why))
			dir := filepath.Join(clusters(c.Dir), "one")
			g.Expect(dir).NotTo(BeADirectory())
			g.Consistently(func() ([]process.Process, error) { return process.Within(dir) }, "500ms").Should(BeEmpty())
			g.Expect(os.ReadDir(os.TempDir())).To(BeEmpty())
		})
	}
}
