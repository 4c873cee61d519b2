package providers

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// maxLine bounds a log line; what is longer ends the reading with an error.
const maxLine = 1 << 20

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

// Unexpected returns the lines of a controller's log that report an error and
// that none of the regular expressions in tolerate matches (the adapter's
// controller.logs.tolerate), in their order.
func Unexpected(log io.Reader, tolerate []string) ([]string, error) {
	for _, pattern := range tolerate {
		if _, err := regexp.Compile(pattern); err != nil {
			return nil, fmt.Errorf("logs.tolerate: %w", err)
		}
	}
	tolerated := Logs{Tolerate: tolerate}.tolerates()
	var found []string
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if line := lines.Text(); alarming.MatchString(line) && !tolerated(line) {
			found = append(found, line)
		}
	}
	return found, lines.Err()
}

// tolerates tells which lines are to be ignored. The adapter has been validated.
func (l Logs) tolerates() func(line string) bool {
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
