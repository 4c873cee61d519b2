package launch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/build/launch"
)

func TestAFileStartsItsCommand(t *testing.T) {
	g := NewWithT(t)
	starter, err := launch.Starter(t.Context(), &build.Cache{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	run := func(c launch.Command, args ...string) (string, error) {
		path := filepath.Join(dir, "a file's name")
		g.Expect(c.Write(path, starter)).To(Succeed())
		defer func() { g.Expect(os.Remove(path)).To(Succeed()) }()
		out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
		return string(out), err
	}
	t.Setenv("MINE", "yes")

	where := t.TempDir()
	out, err := run(launch.Command{
		Dir: where, Env: []string{"A=1"},
		Words: []string{"/bin/sh", "-c", `pwd; env; printf '<%s>' "$0" "$@"`, launch.Self},
	}, "$HOME", "two words")
	g.Expect(err).NotTo(HaveOccurred(), out)
	g.Expect(out).To(And(
		HavePrefix(where+"\n"), ContainSubstring("A=1\n"), Not(ContainSubstring("MINE")),
		HaveSuffix("<"+filepath.Join(dir, "a file's name")+"><$HOME><two words>")))

	out, err = run(launch.Command{Words: []string{"/bin/sh", "-c", "echo $MINE; exit 7"}})
	g.Expect(out).To(Equal("yes\n"))
	g.Expect(err).To(MatchError("exit status 7"))

	linked := filepath.Join(dir, "link")
	g.Expect(os.Symlink("a file's name", linked)).To(Succeed())
	path := filepath.Join(dir, "a file's name")
	g.Expect(launch.Command{Words: []string{"/bin/echo", launch.Self}}.Write(path, starter)).To(Succeed())
	raw, err := exec.CommandContext(t.Context(), linked, "too").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(raw))
	g.Expect(string(raw)).To(Equal(linked + " too\n"))
	g.Expect(os.Remove(path)).To(Succeed())

	out, err = run(launch.Command{}, "anything")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(BeEmpty())

	out, err = run(launch.Command{Words: []string{filepath.Join(dir, "absent")}})
	g.Expect(err).To(MatchError("exit status 127"))
	g.Expect(out).To(ContainSubstring("no such file"))
}
