package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestAReleaseIsWhatTheChangelogSays(t *testing.T) {
	g := NewWithT(t)
	s := repository(g, t)
	const changelog = "# Changelog\n\n## v0.1.1\n\n- It is better.\n\n## v0.1.0\n\n- It is there.\n"
	g.Expect(s.notes(t.Context(), "v0.1.1", changelog)).To(Equal("- It is better.\n"))

	s.must(g, "tag", "v0.1.0")
	s.commit(g, map[string]string{"fresh/fresh.go": "package fresh\n"})
	s.must(g, "tag", "v0.1.1")
	g.Expect(s.notes(t.Context(), "v0.1.1", changelog)).To(MatchRegexp(
		`^- It is better\.\n\n### Commits since v0\.1\.0\n\n- Change it \([0-9a-f]+\)\n$`))

	_, err := s.notes(t.Context(), "v0.1.2", changelog)
	g.Expect(err).To(MatchError(ContainSubstring("the first section of .github/CHANGELOG.md is v0.1.1, not v0.1.2")))
	_, err = s.notes(t.Context(), "latest", "## v0.1.1\n\n## v0.1.0\n\n- It is there.\n")
	g.Expect(err).To(MatchError(And(ContainSubstring(`"latest" is not a version`), ContainSubstring("says nothing of v0.1.1"))))

	s.commit(g, map[string]string{"api/api.go": "package api\n"})
	_, err = s.notes(t.Context(), "v0.1.1", changelog)
	g.Expect(err).To(MatchError("v0.1.1 has been released: there is such a tag, on another commit"))
	_, err = s.notes(t.Context(), "v0.0.9", "## v0.0.9\n\n- It is old.\n")
	g.Expect(err).To(MatchError("v0.0.9 is older than the last release, v0.1.1"))
	_, err = s.notes(t.Context(), "v0.1.2", "## v0.1.2\n\n- It is smaller.\n")
	g.Expect(err).To(MatchError(And(ContainSubstring("api: Kept: removed"), ContainSubstring("v0.1.2 may not break"))))
}

func TestAnArchiveDependsOnItsContentOnly(t *testing.T) {
	g := NewWithT(t)
	at := time.Unix(1_700_000_000, 0)
	files := map[string][]byte{"plumbline": []byte("program"), "LICENSE": []byte("text")}
	packed, err := pack(at, files)
	g.Expect(err).NotTo(HaveOccurred())
	for range 20 { // the order of a map differs
		again, err := pack(at.In(time.FixedZone("elsewhere", 3600)), files)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again).To(Equal(packed))
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	g.Expect(err).NotTo(HaveOccurred())
	archive := tar.NewReader(unzipped)
	for _, name := range []string{"LICENSE", "plumbline"} {
		header, err := archive.Next()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(header.Name).To(Equal(name))
		g.Expect(header.ModTime.Equal(at)).To(BeTrue())
		g.Expect(io.ReadAll(archive)).To(Equal(files[name]))
	}
}
