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

	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
)

// TestMain lets this program do what bend does too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestAProgramThatCannotBeBentRunsAndIsTold(t *testing.T) {
	g := NewWithT(t)
	p, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	said, err := exec.CommandContext(t.Context(), os.Args[0], "run", p.Path(), "echo", "/bin/echo", "ran").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(said)).To(And(ContainSubstring("/bin/echo: its clock can't be bent: it is no Go program"), HaveSuffix("ran\n")))
	g.Expect(p.Excepted()).NotTo(BeZero())
}

// Who starts a subject traces it, and is a thread.
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
	p, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // a keeper that sets speeds, and does no more
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			number, speed, _ := p.Asked()
			if !p.Answered(number) {
				p.Set(speed, 0)
				p.Answer(number)
			}
			page.Sleep(time.Millisecond)
		}
	}()
	defer func() { close(stop); <-stopped }()
	err = trial{[]float64{20}, 2 * time.Second, false}.run(p)
	g.Expect(err).To(MatchError(ContainSubstring("a wait of 2s for a ")))
}

func TestWhoAsksWhileTheClockIsHeldLearnsWhereItIsMoved(t *testing.T) {
	lock(t)
	g := NewWithT(t)
	p, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	s, err := begin(p, time.Millisecond)
	g.Expect(err).NotTo(HaveOccurred())
	defer s.end()
	before := p.Wall()
	p.Hold(10 * time.Second)
	answers := make(chan answer)
	go func() { a, _ := s.ask("time"); answers <- a }()
	page.Sleep(100 * time.Millisecond)
	g.Expect(answers).NotTo(Receive())
	g.Expect(p.Move(time.Hour)).To(BeTrue())
	g.Expect((<-answers).Wall - before).To(BeNumerically(">", time.Hour))
}

func TestSelfTestFindsClocksThatDisagree(t *testing.T) {
	lock(t)
	g := NewWithT(t)
	p, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	other, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	other.Set(1, time.Hour)
	s, err := begin(p, time.Millisecond)
	g.Expect(err).NotTo(HaveOccurred())
	defer s.end()
	g.Expect(s.agrees(p)).To(Succeed())
	g.Expect(s.agrees(other)).To(MatchError(ContainSubstring("a process asked for the time between")))
}
