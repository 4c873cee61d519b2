//go:build linux && (amd64 || arm64)

package shm_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

func newPage(t *testing.T) *shm.Page {
	t.Helper()
	p, err := shm.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestANewPageIsTheMachinesClock(t *testing.T) {
	g := NewWithT(t)
	p := newPage(t)
	before, now, after := shm.Monotonic(), p.Now(), shm.Monotonic()
	g.Expect(now).To(And(BeNumerically(">=", before), BeNumerically("<=", after)))
	g.Expect(p.Wall()).To(BeNumerically("~", time.Now().UnixNano(), time.Second))
	g.Expect(p.Speed()).To(BeEquivalentTo(1))
}

func TestTheSpeedCountsFromTheChangeOn(t *testing.T) {
	g := NewWithT(t)
	p := newPage(t)
	p.Set(1000, time.Hour)
	began, real := p.Now(), shm.Monotonic()
	shm.Sleep(20 * time.Millisecond)
	now, passed := p.Now(), shm.Monotonic()-real
	g.Expect(began - real).To(BeNumerically(">=", time.Hour))
	g.Expect(now - began).To(BeNumerically(">", 1000*20*time.Millisecond))
	g.Expect(now - began).To(BeNumerically("~", 1000*passed, 5*time.Second))
	p.Set(1, 0)
	g.Expect(p.Now()).To(BeNumerically(">=", now), "nothing that has passed is taken back")
}

func TestAClockIsMovedWhileItIsHeldAndNotLater(t *testing.T) {
	g := NewWithT(t)
	p := newPage(t)
	g.Expect(p.Move(time.Hour)).To(BeFalse(), "nobody holds it")
	p.Hold(time.Minute)
	g.Expect(p.Move(time.Hour)).To(BeTrue())
	moved := shm.Monotonic() + int64(time.Hour)
	g.Expect(p.Now()).To(BeNumerically("~", moved, time.Second), "and it's released")
	p.Hold(50 * time.Millisecond)
	began := shm.Monotonic()
	g.Expect(p.Now()).To(BeNumerically("~", moved, time.Second))
	g.Expect(shm.Monotonic()-began).To(BeNumerically(">", 40*time.Millisecond), "who asks waits until the lease is over")
	g.Expect(p.Move(time.Hour)).To(BeFalse())
	p.Hold(time.Minute)
	p.Release()
	g.Expect(p.Now()).To(BeNumerically("~", moved, 10*time.Second))
}

func TestAnotherProcessSeesTheSamePage(t *testing.T) {
	g := NewWithT(t)
	p := newPage(t)
	other, err := shm.Open(p.Path())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = other.Close() }()
	p.Set(7, time.Minute)
	g.Expect(other.Speed()).To(BeEquivalentTo(7))
	g.Expect(other.Writer()).To(Equal(p.Writer()))
	g.Expect(other.Add(42)).To(Succeed())
	g.Expect(p.Processes()).To(Equal([]int{42}))
	p.Remove(42)
	g.Expect(other.Processes()).To(BeEmpty())
	_, err = shm.Open("/proc/self/fd/4711")
	g.Expect(err).To(MatchError(ContainSubstring("the cluster's clock")))
}

func TestNoMoreProcessesThanThereIsRoomFor(t *testing.T) {
	g := NewWithT(t)
	p := newPage(t)
	for pid := range 512 {
		g.Expect(p.Add(pid + 1)).To(Succeed())
	}
	g.Expect(p.Add(513)).To(MatchError("more than 512 processes use one clock"))
}
