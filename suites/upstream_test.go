package suites_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/suites"
)

// theirSpecs is how many specs Karpenter v1.15.0 has in test/suites/regression and in
// test/suites/disruption.
const theirSpecs = 75 + 39

// TestUpstreamIsMapped checks that upstream.md lists each of Karpenter's specs once, with
// existing specs (as in `make list`) or a reason why there are none.
func TestUpstreamIsMapped(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("upstream.md")
	g.Expect(err).NotTo(HaveOccurred())
	said := map[string]bool{}
	for _, suite := range suites.All() {
		for _, spec := range suite.Specs() {
			said[spec.ID()] = true
		}
	}
	theirs := regexp.MustCompile(`^\| should .* \|$`)
	ours := regexp.MustCompile("`([^`]+)`")
	mapped := map[string]bool{}
	section, found := "", map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = heading
		}
		if !theirs.MatchString(line) {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		g.Expect(cells).To(HaveLen(2), line)
		g.Expect(mapped[section+cells[0]]).To(BeFalse(), "twice: %s", line)
		mapped[section+cells[0]] = true
		found[section]++
		specs := ours.FindAllStringSubmatch(cells[1], -1)
		for _, spec := range specs {
			g.Expect(said[spec[1]]).To(BeTrue(),
				"there is no spec %q, of which upstream.md says that it is the counterpart of %q", spec[1], cells[0])
		}
		if len(specs) == 0 {
			g.Expect(cells[1]).To(HavePrefix("none: "), "neither a counterpart nor a reason: %s", line)
		}
	}
	total := 0
	for _, n := range found {
		total += n
	}
	g.Expect(total).To(Equal(theirSpecs), "%v", found)
}
