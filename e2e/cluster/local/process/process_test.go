package process_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// program puts a program into the folder, as a copy or as a symbolic link.
func program(t *testing.T, dir, name string, link bool) string {
	t.Helper()
	original, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if link {
		if err := os.Symlink(original, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in, err := os.Open(original)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts a command and returns its process. If reaped, it is reaped as soon as it ends.
func start(t *testing.T, reaped bool, argv0 string, args ...string) (*exec.Cmd, process.Process) {
	t.Helper()
	cmd := exec.Command(argv0, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	if reaped {
		go func() { defer close(done); _ = cmd.Wait() }()
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if reaped {
			<-done
		} else {
			_ = cmd.Wait()
		}
	})
	p, err := process.Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, p
}

func TestAProcessIsAliveUntilItEnds(t *testing.T) {
	g := NewWithT(t)
	cmd, p := start(t, true, "sleep", "60")
	g.Expect(p.Alive()).To(BeTrue())
	g.Expect(cmd.Process.Kill()).To(Succeed())
	g.Eventually(p.Alive).Should(BeFalse())
	_, err := process.Find(p.PID)
	g.Expect(err).To(MatchError(process.ErrNone))
}

func TestAZombieIsDead(t *testing.T) {
	g := NewWithT(t)
	cmd, p := start(t, false, "sleep", "60")
	g.Expect(cmd.Process.Kill()).To(Succeed())
	g.Eventually(p.Alive).Should(BeFalse(), "though nobody has waited for it")
}

func TestWithinFindsProgramsOfTheFolderAndNoBystander(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	_, copied := start(t, true, program(t, dir, "sleep", false), "60")
	sub := filepath.Join(dir, "bin")
	g.Expect(os.Mkdir(sub, 0o700)).To(Succeed())
	_, linked := start(t, true, program(t, sub, "tail", true), "-f", "/dev/null")

	// Another process reads a log there, or its program lies in a folder with a similar name.
	g.Expect(os.WriteFile(filepath.Join(dir, "log"), nil, 0o600)).To(Succeed())
	_, reader := start(t, true, "tail", "-f", filepath.Join(dir, "log"))
	similar := dir + "-2"
	g.Expect(os.Mkdir(similar, 0o700)).To(Succeed())
	t.Cleanup(func() { _ = os.RemoveAll(similar) })
	_, neighbour := start(t, true, program(t, similar, "sleep", false), "60")

	g.Expect(process.Within(dir)).To(ConsistOf(copied, linked))

	g.Expect(process.End(t.Context(), dir, time.Second)).To(Succeed())
	g.Expect(copied.Alive()).To(BeFalse())
	g.Expect(linked.Alive()).To(BeFalse())
	g.Expect(reader.Alive()).To(BeTrue())
	g.Expect(neighbour.Alive()).To(BeTrue())
}

func TestEndAsksFirst(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	shell := program(t, dir, "sh", true)
	start(t, true, shell, "-c", `trap 'echo goodbye > "$0"; exit' TERM; echo ready > "$0"; while :; do sleep 0.01; done`,
		said)
	g.Eventually(func() (string, error) { b, err := os.ReadFile(said); return string(b), err }).Should(Equal("ready\n"))
	g.Expect(process.End(t.Context(), dir, 10*time.Second)).To(Succeed())
	g.Expect(os.ReadFile(said)).To(BeEquivalentTo("goodbye\n"))
}

func TestEndKillsWhoDoesNotListen(t *testing.T) {
	for name, test := range map[string]struct {
		grace     time.Duration
		cancelled bool
		atLeast   time.Duration
		atMost    time.Duration
	}{
		"after the grace period": {grace: 300 * time.Millisecond, atLeast: 300 * time.Millisecond, atMost: 2 * time.Second},
		"at once without one":    {atMost: time.Second},
		"at once when it's over": {grace: time.Minute, cancelled: true, atMost: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			said := filepath.Join(dir, "said")
			_, p := start(t, true, program(t, dir, "sh", true), "-c",
				`trap '' TERM; echo ready > "$0"; while :; do sleep 0.01; done`, said)
			g.Eventually(func() (string, error) { b, err := os.ReadFile(said); return string(b), err }).Should(Equal("ready\n"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.cancelled {
				cancel()
			}
			begin := time.Now()
			g.Expect(process.End(ctx, dir, test.grace)).To(Succeed())
			g.Expect(p.Alive()).To(BeFalse())
			g.Expect(time.Since(begin)).To(And(BeNumerically(">=", test.atLeast), BeNumerically("<", test.atMost)))
		})
	}
}
