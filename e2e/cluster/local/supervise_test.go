package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// sleepers starts processes in place of the components.
func sleepers(t *testing.T) (map[string]process.Process, map[string]*exec.Cmd) {
	t.Helper()
	ps, cmds := map[string]process.Process{}, map[string]*exec.Cmd{}
	for _, name := range components() {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
		p, err := process.Find(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		ps[name], cmds[name] = p, cmd
	}
	return ps, cmds
}

func TestTheFirstDeathIsReportedOnceWithItsLastWords(t *testing.T) {
	g := NewWithT(t)
	ps, cmds := sleepers(t)
	dir := t.TempDir()
	logFile := func(component string) string { return filepath.Join(dir, component+".log") }
	g.Expect(os.WriteFile(logFile(scheduler), []byte("first\npanic: no\n"), 0o600)).To(Succeed())

	deaths := make(chan cluster.Death, 10)
	s := supervise(t.Context(), &supervisor{processes: ps, logFile: logFile, onDeath: func(d cluster.Death) {
		deaths <- d
	}})
	g.Consistently(deaths, 3*pollInterval).ShouldNot(Receive())

	g.Expect(cmds[scheduler].Process.Kill()).To(Succeed())
	g.Eventually(deaths, time.Second).Should(Receive(Equal(cluster.Death{
		Component: scheduler, LastLines: []string{"first", "panic: no"},
	})))
	g.Expect(cmds[etcd].Process.Kill()).To(Succeed())
	g.Consistently(deaths, 3*pollInterval).ShouldNot(Receive())
	s.stop()
}

func TestADeathAfterStopIsNobodysConcern(t *testing.T) {
	g := NewWithT(t)
	ps, cmds := sleepers(t)
	deaths := make(chan cluster.Death, 10)
	s := supervise(t.Context(), &supervisor{
		processes: ps, logFile: func(string) string { return "" }, onDeath: func(d cluster.Death) { deaths <- d },
	})
	s.stop()
	g.Expect(cmds[etcd].Process.Kill()).To(Succeed())
	g.Consistently(deaths, 3*pollInterval).ShouldNot(Receive())
}

// OnDeath probably closes the cluster, which stops the supervisor.
func TestTheOneWhoIsToldMayStopTheSupervisor(t *testing.T) {
	g := NewWithT(t)
	ps, cmds := sleepers(t)
	ready, stopped := make(chan *supervisor, 1), make(chan struct{})
	s := supervise(t.Context(), &supervisor{
		processes: ps, logFile: func(string) string { return "" },
		onDeath: func(cluster.Death) { (<-ready).stop(); close(stopped) },
	})
	ready <- s
	g.Expect(cmds[apiserver].Process.Kill()).To(Succeed())
	g.Eventually(stopped, 2*time.Second).Should(BeClosed())
}

func TestAReleasedComponentMayEnd(t *testing.T) {
	g := NewWithT(t)
	ps, cmds := sleepers(t)
	deaths := make(chan cluster.Death, 10)
	s := supervise(t.Context(), &supervisor{
		processes: ps, logFile: func(string) string { return "" }, onDeath: func(d cluster.Death) { deaths <- d },
	})
	defer s.stop()
	released, watched := s.release(apiserver)
	g.Expect(watched).To(BeTrue())
	_, watched = s.release(apiserver)
	g.Expect(watched).To(BeFalse())
	g.Expect(released.Kill()).To(Succeed())
	g.Expect(released.Alive()).To(BeFalse())
	g.Consistently(deaths, 3*pollInterval).ShouldNot(Receive())

	another, err := process.Find(cmds[etcd].Process.Pid) // any other
	g.Expect(err).NotTo(HaveOccurred())
	s.release(etcd)
	s.resume(apiserver, another)
	g.Expect(cmds[etcd].Process.Kill()).To(Succeed())
	g.Eventually(deaths, time.Second).Should(Receive(HaveField("Component", apiserver)))
}
