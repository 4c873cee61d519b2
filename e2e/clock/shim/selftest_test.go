//go:build linux && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// TestMain makes this program also the shim.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestAProgramThatIsNotGosRunsUnbentAndIsNoted(t *testing.T) {
	g := NewWithT(t)
	p, err := shm.New()
	g.Expect(err).NotTo(HaveOccurred())
	said, err := exec.CommandContext(t.Context(), os.Args[0], "run", p.Path(), "echo", "/bin/echo", "ran").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(said)).To(ContainSubstring("/bin/echo: its clock can't be bent: it is no Go program"))
	g.Expect(string(said)).To(HaveSuffix("ran\n"))
	g.Expect(p.Unbent()).NotTo(BeZero())
}

// lock keeps the test on one thread, because a subject's tracer is the thread that starts it.
func lock(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
}

func TestSelfTestPasses(t *testing.T) {
	lock(t)
	NewWithT(t).Expect(selftest()).To(Succeed())
}

func TestSelfTestFindsWaitsThatNobodyEnds(t *testing.T) {
	lock(t)
	g := NewWithT(t)
	p, err := shm.New()
	g.Expect(err).NotTo(HaveOccurred())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // a governor that only sets speeds
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			number, speed, _ := p.Requested()
			p.Set(speed, 0)
			p.Obeyed(number)
			shm.Sleep(time.Millisecond)
		}
	}()
	defer func() { close(stop); <-stopped }()
	for _, of := range trials() {
		// The first is about no early end, the third takes too long for a test, and the last is about changes of speed.
		if len(of.speeds) == 1 && of.speeds[0] == 10 {
			g.Expect(of.run(p)).To(MatchError(ContainSubstring("a wait of %s for a ", of.wait)), "at speed %v", of.speeds)
		}
	}
}

func TestWhoAsksWhileTheClockIsHeldGetsTheTimeAfterTheMove(t *testing.T) {
	lock(t)
	g := NewWithT(t)
	p, err := shm.New()
	g.Expect(err).NotTo(HaveOccurred())
	s, err := begin(p, time.Millisecond)
	g.Expect(err).NotTo(HaveOccurred())
	defer s.end()
	before := p.Wall()
	p.Hold(10 * time.Second)
	answers := make(chan answer)
	go func() { a, _ := s.ask("time"); answers <- a }()
	shm.Sleep(100 * time.Millisecond)
	g.Expect(answers).NotTo(Receive())
	g.Expect(p.Move(time.Hour)).To(BeTrue())
	g.Expect((<-answers).Wall - before).To(BeNumerically(">", time.Hour))
}

func TestSelfTestFindsClocksThatDisagree(t *testing.T) {
	lock(t)
	g := NewWithT(t)
	p, err := shm.New()
	g.Expect(err).NotTo(HaveOccurred())
	other, err := shm.New()
	g.Expect(err).NotTo(HaveOccurred())
	other.Set(1, time.Hour)
	s, err := begin(p, time.Millisecond)
	g.Expect(err).NotTo(HaveOccurred())
	defer s.end()
	g.Expect(s.checkClocks(p)).To(Succeed())
	g.Expect(s.checkClocks(other)).To(MatchError(ContainSubstring("a process asked for the time between")))
}
