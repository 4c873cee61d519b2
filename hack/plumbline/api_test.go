package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/Masterminds/semver/v3"
	. "github.com/onsi/gomega"
)

func TestWhatBreaksImportersWaitsForAReleaseThatMay(t *testing.T) {
	for versions, may := range map[[2]string]bool{
		{"v0.1.0", "v0.1.1"}: false, {"v0.1.0", "v0.2.0"}: true, {"v0.9.3", "v1.0.0"}: true,
		{"v1.0.0", "v1.1.0"}: false, {"v1.9.0", "v2.0.0"}: true, {"v0.2.0", "v0.2.0"}: false,
		{"v0.3.0", "v0.2.1"}: false,
	} {
		last, next := semver.MustParse(versions[0]), semver.MustParse(versions[1])
		NewWithT(t).Expect(mayBreak(last, next)).To(Equal(may), "%v", versions)
	}
}

func TestTheChangelogBeginsWithTheNextRelease(t *testing.T) {
	g := NewWithT(t)
	version, text, err := firstSection("# Changelog\n\n## v1.2.3\n\n- a\n- b\n\n### More\n\n## v1.2.2\n\n- c\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(version.String()).To(Equal("1.2.3"))
	g.Expect(text).To(Equal("- a\n- b\n\n### More"))
	_, _, err = firstSection("# Changelog\n\n## Unreleased\n")
	g.Expect(err).To(MatchError(ContainSubstring(`"Unreleased" is not a version such as v1.2.3`)))
	_, _, err = firstSection("# Changelog\n")
	g.Expect(err).To(MatchError(ContainSubstring("has no section")))
}

// repository returns a module with a commit, in a repository of its own.
func repository(g *WithT, t *testing.T) source {
	tools, err := filepath.Abs("../tools/go.mod")
	g.Expect(err).NotTo(HaveOccurred())
	s := source{Dir: t.TempDir(), Tools: tools, API: []string{"api", "gone", "fresh"}}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	s.must(g, "init", "--quiet", "--initial-branch=main")
	s.must(g, "config", "user.name", "somebody")
	s.must(g, "config", "user.email", "somebody@example.com")
	s.commit(g, map[string]string{
		"go.mod":       "module example.com/m\n\ngo 1.26.0\n",
		"api/api.go":   "package api\n\nfunc Kept(int) {}\n\nfunc Changed(int) {}\n",
		"gone/gone.go": "package gone\n", "others/others.go": "package others\n\nfunc Changed(int) {}\n",
	})
	return s
}

func (s source) must(g *WithT, args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir = s.Dir
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "git %v: %s", args, out)
}

func (s source) commit(g *WithT, files map[string]string) {
	for name, text := range files {
		file := filepath.Join(s.Dir, name)
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	}
	s.must(g, "add", "--all")
	s.must(g, "commit", "--quiet", "--message", "Change it")
}

func TestTheAPIIsComparedWithTheLastRelease(t *testing.T) {
	g := NewWithT(t)
	s := repository(g, t)
	next := semver.MustParse("v0.1.1")
	said, err := s.checkAPI(t.Context(), next)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(said).To(Equal("there is no earlier release to compare the API with\n"))

	s.must(g, "tag", "v0.1.0")
	s.must(g, "tag", "v0.9.0-rc.1")
	s.must(g, "tag", "vendored")
	s.commit(g, map[string]string{
		"api/api.go":       "package api\n\nfunc Kept(int) {}\n\nfunc Changed(int) {}\n\nfunc Added() {}\n",
		"others/others.go": "package others\n\nfunc Changed(string) {}\n", "fresh/fresh.go": "package fresh\n",
	})
	s.must(g, "tag", "v0.1.1") // it is being released
	g.Expect(s.checkAPI(t.Context(), next)).To(Equal("the API is compatible with v0.1.0\n"))

	s.must(g, "tag", "--delete", "v0.1.1")
	g.Expect(os.RemoveAll(filepath.Join(s.Dir, "gone"))).To(Succeed())
	s.commit(g, map[string]string{"api/api.go": "package api\n\nfunc Kept(int) {}\n\nfunc Changed(string) {}\n"})
	said, err = s.checkAPI(t.Context(), next)
	const broken = "importers of v0.1.0 would have to change their code:\n" +
		"  api: Changed: changed from func(int) to func(string)\n  gone: the package is gone\n"
	g.Expect(said).To(Equal(broken))
	g.Expect(err).To(MatchError(ContainSubstring("v0.1.1 may not break importers of v0.1.0")))
	g.Expect(err).To(MatchError(HaveSuffix("such as v0.2.0")))
	g.Expect(s.checkAPI(t.Context(), semver.MustParse("v0.2.0"))).To(Equal(broken), "it may")
	out, err := s.git(t.Context(), "worktree", "list")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).NotTo(ContainSubstring("before"), "nothing is left behind")

	s.commit(g, map[string]string{"api/api.go": "package api\n\nfunc Kept(int) {\n"})
	_, err = s.checkAPI(t.Context(), next)
	g.Expect(err).To(MatchError(ContainSubstring("apidiff")))
}
