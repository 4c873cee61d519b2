package providers

import (
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// text is the text of a file of this folder.
func text(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

// named are the names in code style in those paragraphs of the contract that begin with some words.
func named(t *testing.T, begin string) []string {
	t.Helper()
	var all []string
	for paragraph := range strings.SplitSeq(text(t, "contract.md"), "\n\n") {
		if strings.HasPrefix(paragraph, begin+" `") {
			for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(paragraph, -1) {
				all = append(all, match[1])
			}
		}
	}
	NewWithT(t).Expect(all).NotTo(BeEmpty(), begin)
	return all
}

func TestTheContractNamesSpecsOfTheCatalogue(t *testing.T) {
	catalogue := text(t, "../suites/README.md")
	for _, id := range named(t, "*Judged by*") {
		row := regexp.MustCompile(`(?m)^\| \[` + regexp.QuoteMeta(id) + `(/[a-z0-9-]+)*\]`)
		NewWithT(t).Expect(row.MatchString(catalogue)).To(BeTrue(), "no spec of suites/README.md is or begins with %s", id)
	}
}

func TestTheContractNamesAllHooksAndNoOthers(t *testing.T) {
	g := NewWithT(t)
	for _, hook := range named(t, "*Played by*") {
		g.Expect(HookNames()).To(ContainElement(HookName(hook)))
	}
	for _, hook := range HookNames() {
		g.Expect(text(t, "contract.md")).To(ContainSubstring("`"+string(hook)+"`"), "contract.md says what each hook plays")
	}
}
