package hostnode

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestProcessesDieWithTheHarness(t *testing.T) {
	g := NewWithT(t)
	harness := exec.CommandContext(t.Context(), os.Args[0])
	harness.Env = append(os.Environ(), actsAsHarness+"=1")
	out, err := harness.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(harness.Start()).To(Succeed())
	line, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(syscall.Kill(pid, 0)).To(Succeed())

	g.Expect(harness.Process.Kill()).To(Succeed())
	_ = harness.Wait()
	g.Eventually(func() bool { return gone(pid) }, 10*time.Second, 10*time.Millisecond).Should(BeTrue())
}

// gone reports whether a process has ended, reaped or not.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestGroupEndsWithItsFirstProcess(t *testing.T) {
	g := NewWithT(t)
	s := newStarter(nil)
	t.Cleanup(s.close)
	out, err := os.CreateTemp(t.TempDir(), "out")
	g.Expect(err).NotTo(HaveOccurred())
	p, err := s.start(&exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", "sleep 60 & echo $!; exit 3"},
		Env: []string{"PATH=/bin:/usr/bin"}, Stdout: out,
	}, 0)
	g.Expect(err).NotTo(HaveOccurred())
	<-p.done
	g.Expect(p.code).To(Equal(3))
	data, err := os.ReadFile(out.Name())
	g.Expect(err).NotTo(HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() bool { return gone(pid) }, 5*time.Second, 10*time.Millisecond).Should(BeTrue())
}

func TestStopAsksThenKills(t *testing.T) {
	g := NewWithT(t)
	s := newStarter(nil)
	t.Cleanup(s.close)
	sh := func(script string) *process {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		g.Expect(err).NotTo(HaveOccurred())
		p, err := s.start(&exec.Cmd{
			Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=/bin:/usr/bin"},
			Stdout: out,
		}, 0)
		g.Expect(err).NotTo(HaveOccurred())
		if strings.Contains(script, "echo") {
			g.Eventually(func() (string, error) { return tail(out.Name(), 0, 1), nil }).Should(Equal("ready"))
		}
		return p
	}
	meek := sh("exec sleep 60")
	meek.stop(time.Minute)
	g.Expect(meek.code).To(Equal(128 + int(syscall.SIGTERM)))
	stubborn := sh("trap '' TERM; echo ready; sleep 60; sleep 60")
	stubborn.stop(50 * time.Millisecond)
	g.Expect(stubborn.code).To(Equal(128 + int(syscall.SIGKILL)))

	left := sh("exec sleep 60")
	s.close()
	<-left.done
	_, err := s.start(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh"}}, 0)
	g.Expect(err).To(MatchError(errEnding))
}
