package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// Log lines from the clean-up don't explain a spec's failure.
func TestTheLogOfAFailureEndsWithTheSpec(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)
	line := func(after time.Duration, says string) string {
		return fmt.Sprintf(`{"time":%q,"message":%q}`, at.Add(after).Format(time.RFC3339Nano), says)
	}
	lines := []string{
		line(-time.Minute, "long before"), line(-time.Second, "before"), "no time", line(time.Millisecond, "right then"),
		line(500*time.Millisecond, "after"), line(2*time.Second, "long after"),
	}
	for name, c := range map[string]struct {
		ended time.Time
		want  []string
	}{
		"that ended by failing":       {at.Add(10 * time.Millisecond), []string{"before", "no time", "right then"}},
		"that went on":                {at.Add(time.Minute), []string{"before", "no time", "right then", "after"}},
		"whose clean-up went wrong":   {at.Add(-10 * time.Second), []string{"before", "no time", "right then", "after"}},
		"of which nothing was logged": {at.Add(time.Minute), nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if c.want == nil {
				g.Expect(quote([]string{"no time"}, at, c.ended)).To(BeEmpty())
				return
			}
			quoted := strings.Split(quote(lines, at, c.ended), "\n  ")
			g.Expect(quoted[0]).To(Equal("the controller's log at that moment:"))
			g.Expect(quoted[1:]).To(HaveLen(len(c.want)))
			for i, says := range c.want {
				g.Expect(quoted[i+1]).To(ContainSubstring(says))
			}
		})
	}
}

// A panic has no time of its own, and many lines.
func TestTheLogOfAFailureShowsAPanic(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)
	log := []string{fmt.Sprintf(`{"time":%q,"message":"before"}`, at.Format(time.RFC3339)), "panic: nil map", ""}
	for range 100 {
		log = append(log, "goroutine 7 [running]:")
	}
	quoted := quote(log, at, at.Add(time.Minute))
	g := NewWithT(t)
	g.Expect(quoted).To(ContainSubstring("\n  panic: nil map\n"))
	g.Expect(strings.Count(quoted, "\n")).To(Equal(quoteLines))
}
