package install

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/providers"
)

// forbidden is how the API server refuses: the wording of apiserver's
// responsewriters.ForbiddenStatusError, quotes escaped where it stands in JSON.
var forbidden = regexp.MustCompile(`cannot ([a-z]+) resource \\*"([^"\\]+)\\*" in API group \\*"([^"\\]*)\\*"`)

// ForbiddenIn tells whether a log line reports that the API server refused
// something for want of RBAC rights, and what. The resource is written as in
// nodepools.karpenter.sh, pods or pods/eviction.
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

// alarming matches the lines that report a bug or an error: Karpenter's JSON
// log, klog's errors, and what Go prints when it dies.
var alarming = regexp.MustCompile(`"level":"(ERROR|DPANIC|PANIC|FATAL)"|^[EF]\d{4} \d\d:\d\d:\d\d|^panic: |^fatal error: |WARNING: DATA RACE|Observed a panic`)

// Unexpected returns the lines of the controller's log that report an error
// and that the adapter doesn't tolerate (controller.logs.tolerate), in their order.
func (i *Installed) Unexpected(lines []string) []string {
	return unexpected(lines, tolerated(i.adapter.Controller.Logs))
}

// Untolerated returns the lines of the controller's log that the adapter doesn't tolerate,
// errors or not, in their order.
func (i *Installed) Untolerated(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), tolerated(i.adapter.Controller.Logs))
}

func unexpected(lines []string, ignore func(line string) bool) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return !alarming.MatchString(line) || ignore(line)
	})
}

// tolerated tells which lines are to be ignored. The adapter has been validated.
func tolerated(l providers.Logs) func(line string) bool {
	var ignored []*regexp.Regexp
	for _, pattern := range l.Tolerate {
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
