package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheDoctorSaysWhatIsMissingAndWhatFor(t *testing.T) {
	g := NewWithT(t)
	has := func(context.Context) (string, error) { return "1.26", nil }
	lacks := func(context.Context) (string, error) { return "", errors.New("none") }
	var text strings.Builder
	g.Expect(examine(t.Context(), &text, []examination{
		{"Go", "builds", true, has}, {"Docker", "kind", false, lacks},
	})).To(Succeed(), "what isn't needed by every run may be missing")
	g.Expect(text.String()).To(Equal("✓ Go: 1.26\n– Docker: none\n  without it there is no: kind\n"))
	g.Expect(examine(t.Context(), &text, []examination{{"disk", "builds", true, lacks}})).To(MatchError("disk: none"))
	g.Expect(text.String()).To(HaveSuffix("✗ disk: none\n  needed: builds\n"))
}

func TestTheDoctorMeasuresTheDiskOfAFolderToBe(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir() + "/a/b"
	g.Expect(free(folder, 0)(t.Context())).To(ContainSubstring("GiB are free"))
	_, err := free(folder, 1<<40)(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("1099511627776 are wanted")))
}
