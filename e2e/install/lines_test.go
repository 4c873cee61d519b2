package install

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

func TestAnExcerptHoldsTheError(t *testing.T) {
	var log []string
	for i := range 40 {
		log = append(log, fmt.Sprintf(`{"level":"INFO","message":"%d"}`, i))
	}
	with := func(at int, line string) []string {
		lines := append([]string{}, log...)
		lines[at] = line
		return lines
	}
	panicked := with(10, "panic: no region")
	for name, c := range map[string]struct{ lines, want []string }{
		"a panic in the middle":     {panicked, panicked[6:21]},
		"an error at the end":       {with(38, subnetLine), with(38, subnetLine)[25:]},
		"an error long before":      {with(3, subnetLine), append([]string{subnetLine}, log[26:]...)},
		"a panic that was observed": {with(3, observedLine), append([]string{observedLine}, log[26:]...)},
		"no error":                  {log, log[25:]},
		"a short log":               {log[:3], log[:3]},
		"nothing":                   {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if c.want == nil {
				g.Expect(Excerpt(c.lines, 15)).To(BeEmpty())
				return
			}
			g.Expect(Excerpt(c.lines, 15)).To(Equal(c.want))
		})
	}
}

const observedLine = `{"level":"ERROR","message":"Observed a panic","panic":"nil map"}`

// The panic is named as the cause, and once more only where the log shows it.
func TestAPanicIsNotSaidAgainAndAgain(t *testing.T) {
	ended := &corev1.ContainerStateTerminated{ExitCode: 2, Message: infoLine + "\npanic: no region\n"}
	p := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{Name: "controller", State: corev1.ContainerState{Terminated: ended}},
	}}}
	n := &NotReady{
		What: "controller", Provider: "acme", Cause: judge(p), Status: describePod(p),
		LastLog: Excerpt(strings.Split(strings.TrimSpace(ended.Message), "\n"), tailLines),
	}
	g := NewWithT(t)
	g.Expect(n.Error()).To(HavePrefix(
		"the controller of acme is not ready: its container controller ended with exit code 2: panic: no region\n"))
	g.Expect(strings.Count(n.Error(), "no region")).To(Equal(2))
	g.Expect(strings.Count(n.Error(), "registered nodeclaim")).To(Equal(1))
}
