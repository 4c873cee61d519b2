package install

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/providers"
)

// forbidden matches the API server's refusals, as responsewriters.ForbiddenStatusError of
// apiserver writes them. In JSON the quotes are escaped.
var forbidden = regexp.MustCompile(`cannot ([a-z]+) resource \\*"([^"\\]+)\\*" in API group \\*"([^"\\]*)\\*"`)

// ForbiddenIn tells whether a log line says that RBAC forbids a request, and which one.
// Examples of resources are nodepools.karpenter.sh, pods and pods/eviction.
func ForbiddenIn(logLine string) (verb, resource string, ok bool) {
	parts := forbidden.FindStringSubmatch(logLine)
	if parts == nil {
		return "", "", false
	}
	verb, resource = parts[1], parts[2]
	if group := parts[3]; group != "" {
		name, sub, has := strings.Cut(resource, "/")
		resource = name + "." + group
		if has {
			resource += "/" + sub
		}
	}
	return verb, resource, true
}

// alarming matches lines about bugs and errors: of Karpenter's JSON log, klog, and Go crashes.
var alarming = regexp.MustCompile(
	`"level":"(ERROR|DPANIC|PANIC|FATAL)"|^[EF]\d{4} \d\d:\d\d:\d\d` +
		`|^panic: |^fatal error: |WARNING: DATA RACE|Observed a panic`)

// Unexpected returns, in order, the log lines that report an error and that the adapter
// doesn't tolerate (controller.logs.tolerate).
func (i *Installed) Unexpected(lines []string) []string {
	return unexpectedLines(lines, tolerated(i.adapter.Controller.Logs))
}

// Untolerated returns, in order, all log lines that the adapter doesn't tolerate.
func (i *Installed) Untolerated(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), tolerated(i.adapter.Controller.Logs))
}

func unexpectedLines(lines []string, ignore func(line string) bool) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return !alarming.MatchString(line) || ignore(line)
	})
}

// tolerated returns a test for lines to ignore. Validate has checked the patterns.
func tolerated(l providers.Logs) func(line string) bool {
	var ignored []*regexp.Regexp
	for _, pattern := range l.Tolerated() {
		if compiled, err := regexp.Compile(pattern); err == nil {
			ignored = append(ignored, compiled)
		}
	}
	return func(line string) bool {
		for _, r := range ignored {
			if r.MatchString(line) {
				return true
			}
		}
		return false
	}
}
