//go:build linux && (amd64 || arm64)

package governor

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

func TestParse(t *testing.T) {
	g := NewWithT(t)
	for line, want := range map[string]int64{
		epoll[0] + " 0x6 0x7f12 0x80 0x18 0x0 0x0 0x7ffc 0x49":               int64(24 * time.Millisecond),
		epoll[0] + " 0x6 0x7f12 0x80 0xffffffff 0x0 0x0 0x7ffc 0x49":         unending,
		epoll[0] + " 0x6 0x7f12 0x80 0xffffffffffffffff 0x0 0x0 0x7ffc 0x49": unending,
	} {
		got, ok := parse([]byte(line))
		g.Expect(ok).To(BeTrue(), line)
		g.Expect(got).To(Equal(want), line)
	}
	for _, line := range []string{"running\n", "-1 0x7ffc 0x49", "999 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffc 0x49", ""} {
		_, ok := parse([]byte(line))
		g.Expect(ok).To(BeFalse(), line)
	}
}

func TestParked(t *testing.T) {
	g := NewWithT(t)
	for line, want := range map[string]bool{
		fmt.Sprintf("%d 0x1f12 0x80 0x0 0x0 0x0 0x0 0x7ffc 0x49", syscall.SYS_FUTEX):    true,
		fmt.Sprintf("%d 0x1f12 0x80 0x0 0x7f1c 0x0 0x0 0x7ffc 0x49", syscall.SYS_FUTEX): false, // it has a timeout
		epoll[0] + " 0x6 0x7f12 0x80 0x0 0x0 0x0 0x7ffc 0x49":                           false, // any process can end it
		"running\n": false,
		"":          false,
	} {
		g.Expect(parked([]byte(line))).To(Equal(want), line)
	}
}

func TestWorks(t *testing.T) {
	g := NewWithT(t)
	for line, want := range map[string]bool{
		"running\n":              true,
		"-1 0x7ffc7d0 0x49\n":    true, // a page of a file comes from the disk
		"-1 0x0 0x0":             false,
		epoll[0] + " 0x6 0x7f12": false,
		"":                       false,
		fmt.Sprintf("%d 0x3 0xc000 0x18", syscall.SYS_FDATASYNC): true,
		fmt.Sprintf("%d 0x3 0xc000 0x18", syscall.SYS_PWRITE64):  true,
		fmt.Sprintf("%d 0x3 0xc000 0x18", syscall.SYS_FUTEX):     false,
	} {
		g.Expect(works([]byte(line))).To(Equal(want), line)
	}
}

// scanned returns a governor of one process. The test calls its scans.
func scanned(t *testing.T, pid int) *governor {
	t.Helper()
	p, err := shm.New()
	if err == nil {
		err = p.Add(pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := newGovernor(p)
	t.Cleanup(g.close)
	return g
}

func (g *governor) waits() bool {
	_, quiet := g.scan()
	return quiet && g.allWaiting()
}

// sleeper starts a program that sleeps for 100 ms, 110 ms, ... and scans it until it sleeps.
func sleeper(t *testing.T) (*governor, *process) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "sleep")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	g := scanned(t, cmd.Process.Pid)
	NewWithT(t).Eventually(g.waits, "10s", "1ms").Should(BeTrue())
	return g, g.processes[cmd.Process.Pid]
}

// awaitWork waits until a process has spent CPU time.
func awaitWork(p *process) {
	for before := shm.CPUTime(p.pid); shm.CPUTime(p.pid) == before; {
		shm.Sleep(time.Millisecond)
	}
}

// This process sleeps for an hour, which soon passes on the clock. The governor ends its wait
// again and again, because the process itself uses the machine's clock.
func TestAWaitThatIsOverIsEnded(t *testing.T) {
	e := NewWithT(t)
	g := scanned(t, os.Getpid())
	e.Expect(g.page.Add(1 << 30)).To(Succeed())
	sleep := time.AfterFunc(time.Hour, func() {})
	defer sleep.Stop()
	g.page.Set(1e6, 0)
	e.Eventually(func() int {
		g.scan()
		_, pid := g.page.TakeLag()
		return pid
	}, "10s", "5ms").Should(Equal(os.Getpid()))
	e.Expect(g.page.Processes()).To(Equal([]int{os.Getpid()}), "those that don't exist are forgotten")
}

// A process may begin another wait during a scan, after the scan saw no new CPU time. That
// wait did not begin before the clock moved.
func TestAWaitThatBeginsAfterAMoveIsNotLateForIt(t *testing.T) {
	e := NewWithT(t)
	g, p := sleeper(t)
	g.page.Set(1, 12*time.Hour)
	g.noteMove()
	awaitWork(p)
	p.spent = shm.CPUTime(p.pid) // as if the scan had begun before that work
	e.Consistently(func() time.Duration {
		g.scan()
		late, _ := g.page.TakeLag()
		return late
	}, "200ms", "1ms").Should(BeNumerically("<", time.Hour))
}

func TestAProcessThatHasWorkedSinceTheScanIsNotStill(t *testing.T) {
	e := NewWithT(t)
	g, p := sleeper(t)
	awaitWork(p)
	e.Expect(g.allWaiting()).To(BeFalse(), "though it sleeps again")
	e.Eventually(g.waits, "10s", "1ms").Should(BeTrue())
	e.Expect(g.page.Add(os.Getpid())).To(Succeed())
	e.Expect(g.allWaiting()).To(BeFalse(), "nobody has scanned that one yet")
}

// What a disk or a full pipe keeps waiting has not done its work. What reads a pipe waits for others.
func TestAProcessThatCanNotWriteIsNotStill(t *testing.T) {
	e := NewWithT(t)
	started := func(file string) (pid int, waits func() bool) {
		cmd := exec.CommandContext(t.Context(), "cat", file)
		_, err := cmd.StdoutPipe() // nobody reads it
		e.Expect(err).NotTo(HaveOccurred())
		_, err = cmd.StdinPipe()
		e.Expect(err).NotTo(HaveOccurred())
		e.Expect(cmd.Start()).To(Succeed())
		pid = cmd.Process.Pid
		t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
		g := scanned(t, pid)
		return pid, func() bool { g.scan(); return g.processes[pid].isWaiting() }
	}
	_, waits := started("-")
	e.Eventually(waits, "10s", "5ms").Should(BeTrue())
	writer, waits := started("/dev/zero")
	e.Eventually(func() ([]byte, error) { return os.ReadFile(fmt.Sprintf("/proc/%d/syscall", writer)) }, "10s", "5ms").
		Should(HavePrefix(fmt.Sprint(syscall.SYS_WRITE, " ")))
	e.Consistently(waits, "300ms", "5ms").Should(BeFalse())
}

// Ended processes stay in the process table until their parent reaps them.
func TestAZombieIsForgotten(t *testing.T) {
	e := NewWithT(t)
	dead := exec.CommandContext(t.Context(), "true")
	e.Expect(dead.Start()).To(Succeed())
	defer func() { _ = dead.Wait() }()
	g := scanned(t, dead.Process.Pid)
	e.Eventually(func() []int {
		g.scan()
		return g.page.Processes()
	}, "10s", "5ms").Should(BeEmpty())
}
