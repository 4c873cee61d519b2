//go:build e2e

package local

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

func TestAComponentThatHangs(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	c := cache(t)
	deaths := make(chan cluster.Death, 10)
	up, err := Start(ctx, c, cluster.Options{
		Name: "hangs", Kubernetes: version(t), Logs: t.TempDir(), OnDeath: func(d cluster.Death) { deaths <- d },
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = up.Close(context.WithoutCancel(ctx)) })
	said := make(chan string, 100)
	monitor := &cluster.Monitor{
		Components: up.(cluster.Monitored).Components,
		Progress:   func(step string) { said <- step },
	}

	t.Run("is named", func(t *testing.T) {
		for _, name := range components() {
			g := NewWithT(t)
			g.Expect(monitor.Ask(ctx)).To(BeZero())
			id := pid(g, c, "hangs", name)
			g.Expect(syscall.Kill(id, syscall.SIGSTOP)).To(Succeed())
			limited, cancel := context.WithTimeout(ctx, 15*time.Second)
			began := time.Now()
			hung := monitor.Run(limited)
			cancel()
			g.Expect(syscall.Kill(id, syscall.SIGCONT)).To(Succeed())
			g.Expect(hung).To(HaveValue(MatchError(name + " has not answered for 7 s")))
			t.Logf("%s after %s", hung, time.Since(began))
			g.Expect(hung.LastLines).NotTo(BeEmpty())
			g.Expect(said).To(Receive(Equal(name + " has not answered for 4 s")))
			g.Eventually(func() *cluster.Death { return monitor.Ask(ctx) }).Should(BeZero(), "it goes on")
		}
	})

	t.Run("may do so on purpose", func(t *testing.T) {
		g := NewWithT(t)
		resume, err := up.(cluster.Pauser).PauseKubelets(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		g.Expect(monitor.Run(limited)).To(BeZero())
		g.Expect(resume()).To(Succeed())
		g.Expect(monitor.Ask(ctx)).To(BeZero())
	})

	t.Run("is not one of a busy machine", func(t *testing.T) {
		g := NewWithT(t)
		for range 2 * runtime.NumCPU() {
			busy := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
			g.Expect(busy.Start()).To(Succeed())
			defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
		}
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		used := cpuTime(t)
		g.Expect(monitor.Run(limited)).To(BeZero())
		t.Logf("asking took %s of CPU time in a minute", cpuTime(t)-used)
		g.Expect(said).NotTo(Receive())
	})
	g.Expect(deaths).NotTo(Receive(), "nobody died")
}

// cpuTime returns the CPU time that this process has used.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
