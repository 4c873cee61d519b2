//go:build linux && (amd64 || arm64)

package waits

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
)

// TestMain lets this program be one that sleeps for 100 ms, 110 ms and so on.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "sleep" {
		for d := 100 * time.Millisecond; ; d += 10 * time.Millisecond {
			time.Sleep(d)
		}
	}
	os.Exit(m.Run())
}

// watchSleeper watches a program that sleeps, by a page, and has seen it sleep.
func watchSleeper(t *testing.T) (*page.Page, *Watch, *process) {
	t.Helper()
	g := NewWithT(t)
	p, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	sleeper := exec.CommandContext(t.Context(), os.Args[0], "sleep")
	g.Expect(sleeper.Start()).To(Succeed())
	t.Cleanup(func() { _ = sleeper.Wait() })
	g.Expect(p.Add(sleeper.Process.Pid)).To(Succeed())
	w := New(p)
	t.Cleanup(w.Close)
	g.Eventually(func() bool { w.Look(); return w.Quiet() && w.Still() }, "10s", "1ms").Should(BeTrue())
	return p, w, w.processes[sleeper.Process.Pid]
}

// What a process waits for may change while it is looked at, after it was seen to have
// spent no CPU time. What it waits for now has not begun before the clock was moved.
func TestAWaitThatBeginsAfterAMoveIsNotLateForIt(t *testing.T) {
	g := NewWithT(t)
	p, w, sleeper := watchSleeper(t)
	p.Set(1, 12*time.Hour)
	w.Moved()
	for before := page.CPUTime(sleeper.pid); page.CPUTime(sleeper.pid) == before; {
		page.Sleep(time.Millisecond)
	}
	sleeper.began = page.CPUTime(sleeper.pid) // as a look sees it that began before
	g.Consistently(func() []Lag {
		lags, _ := w.Look()
		return lags
	}, "200ms", "1ms").ShouldNot(ContainElement(HaveField("Late", BeNumerically(">", time.Hour))))
}

func TestWhoHasWorkedSinceTheLookIsNotStill(t *testing.T) {
	g := NewWithT(t)
	p, w, sleeper := watchSleeper(t)
	for before := page.CPUTime(sleeper.pid); page.CPUTime(sleeper.pid) == before; {
		page.Sleep(time.Millisecond)
	}
	g.Expect(w.Still()).To(BeFalse(), "though it sleeps again")
	g.Eventually(func() bool { w.Look(); return w.Quiet() && w.Still() }, "10s", "1ms").Should(BeTrue())
	g.Expect(p.Add(os.Getpid())).To(Succeed())
	g.Expect(w.Still()).To(BeFalse(), "nobody has looked at that one yet")
}

func TestParse(t *testing.T) {
	g := NewWithT(t)
	for line, want := range map[string]int64{
		fmt.Sprintf("%d 0x6 0x7f12 0x80 0x18 0x0 0x0 0x7ffc 0x49", epollPwait):               int64(24 * time.Millisecond),
		fmt.Sprintf("%d 0x6 0x7f12 0x80 0xffffffff 0x0 0x0 0x7ffc 0x49", epollPwait):         unending,
		fmt.Sprintf("%d 0x6 0x7f12 0x80 0xffffffffffffffff 0x0 0x0 0x7ffc 0x49", epollPwait): unending,
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
		fmt.Sprintf("%d 0x1f12 0x80 0x0 0x7f1c 0x0 0x0 0x7ffc 0x49", syscall.SYS_FUTEX): false, // it ends by itself
		fmt.Sprintf("%d 0x6 0x7f12 0x80 0x0 0x0 0x0 0x7ffc 0x49", epollPwait):           false, // and this by anybody
		"running\n": false,
		"":          false,
	} {
		g.Expect(parked([]byte(line))).To(Equal(want), line)
	}
}

// This process sleeps for long, by a clock that says it is over: its thread that
// waits is found, and its wait ended, again and again, since it knows better.
func TestAWaitThatIsOverIsEnded(t *testing.T) {
	g := NewWithT(t)
	p, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Add(os.Getpid())).To(Succeed())
	g.Expect(p.Add(1 << 30)).To(Succeed())
	sleep := time.AfterFunc(time.Hour, func() {})
	defer sleep.Stop()
	w := New(p)
	defer w.Close()
	p.Set(1e6, 0)
	g.Eventually(func() []Lag {
		lags, _ := w.Look()
		return lags
	}, "10s", "5ms").Should(ContainElement(HaveField("PID", os.Getpid())), "an hour is over after 3.6 ms")
	g.Expect(p.Processes()).To(Equal([]int{os.Getpid()}), "those that don't exist are forgotten")
}

// Those that have ended stay in the system's list until somebody asks how.
func TestAZombieIsNobodyToLookAfter(t *testing.T) {
	g := NewWithT(t)
	p, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	dead := exec.CommandContext(t.Context(), "true")
	g.Expect(dead.Start()).To(Succeed())
	defer func() { _ = dead.Wait() }()
	g.Expect(p.Add(dead.Process.Pid)).To(Succeed())
	w := New(p)
	defer w.Close()
	g.Eventually(func() []int {
		w.Look()
		return p.Processes()
	}, "10s", "5ms").Should(BeEmpty())
}
