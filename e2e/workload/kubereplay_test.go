package workload_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/workload"
)

// kubereplay returns a log with events as kubereplay writes them.
func kubereplay(events ...string) []byte {
	return []byte(`{"cluster":"prod","captured":"2026-01-02T16:00:00Z","events":[` + strings.Join(events, ",") + `]}`)
}

func TestLogsOfKubeReplayKeepTheirTimes(t *testing.T) {
	g := NewWithT(t)
	event := func(at, kind, do, rest string) string {
		return fmt.Sprintf(`{"type":%q,"kind":%q,"key":"kubereplay/a","timestamp":"2026-01-02T15:%sZ"%s}`, do, kind, at, rest)
	}
	object := func(spec string) string {
		return `{"metadata":{"name":"a","namespace":"kubereplay","creationTimestamp":null},"spec":` + spec + `,"status":{}}`
	}
	w, err := workload.Read(write(t, "replay.json", kubereplay(
		event("04:00", "Deployment", "create", `,"deployment":`+object(`{"replicas":2}`)),
		event("06:00", "Deployment", "delete", ""),
		event("05:00", "Deployment", "scale", `,"replicas":5`), // they are put in order
		event("04:30.5", "Job", "create", `,"duration":45000000000,"job":`+object(`{"parallelism":3,"completions":2,"template":{
			"metadata":{"labels":{"controller-uid":"1"}},"spec":{"restartPolicy":"Never"}}}`)),
		event("06:30", "Job", "create", `,"job":`+strings.Replace(object(`{"parallelism":3}`), `"a"`, `"b"`, 1)),
		event("07:00", "Deployment", "scale", `,"replicas":1`), // it has gone
	)))
	g.Expect(err).NotTo(HaveOccurred())
	var played []string
	for _, a := range w.Actions[2:] { // after a NodePool and the Namespace
		spec := a.Object.Object["spec"].(map[string]any)
		played = append(played, fmt.Sprint(a.At, " ", a.Object.GetKind(), " ", a.Object.GetName(), " ", a.Delete, " ",
			spec["replicas"]))
	}
	g.Expect(played).To(Equal([]string{
		"0s Deployment a false 2", "30.5s Deployment job-a false 2", "1m0s Deployment a false 5",
		"1m15.5s Deployment job-a true 2", "2m0s Deployment a true 5",
		"2m30s Deployment job-b false 3", "2m40s Deployment job-b true 3", // of unknown length
	}))
	g.Expect(w.Length).To(Equal(3*time.Minute + 30*time.Minute))
	g.Expect(w.Notes).To(ContainElement("left out: 1 scale of a Deployment that isn't there"))
}

func TestBadLogsOfKubeReplaySayAllThatIsWrong(t *testing.T) {
	g := NewWithT(t)
	_, err := workload.Read(write(t, "replay.json", kubereplay()))
	g.Expect(err).To(MatchError(ContainSubstring("a log of kubereplay without events")))
	const at = `"timestamp":"2026-01-02T15:04:05Z"`
	_, err = workload.Read(write(t, "replay.json", kubereplay(
		`{"type":"create","kind":"Deployment"}`, `{"type":"create","kind":"Pod",`+at+`}`,
		`{"type":"create","kind":"Job",`+at+`}`, `{"type":"scale","kind":"Deployment",`+at+`}`,
		`{"type":"move","kind":"Deployment",`+at+`}`,
	)))
	for i, says := range []string{
		`timestamp: "" is no time such as`, `kind: "Pod" is neither`, "job: it is missing", "replicas: it is no whole number",
		`type: "move" is none of`,
	} {
		g.Expect(err).To(MatchError(ContainSubstring("event %d of the log: %s", i+1, says)))
	}
}
