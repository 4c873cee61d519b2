package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/timeline"
)

func TestTheTimelineHasWhatTheRunKnows(t *testing.T) {
	g := NewWithT(t)
	run := filepath.Join(t.TempDir(), "20260101-1")
	recording := filepath.Join(run, "histories", "consolidation.late.room.jsonl.gz")
	text, err := os.ReadFile("timeline/testdata/consolidation.jsonl.gz")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.MkdirAll(filepath.Dir(recording), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(recording, text, 0o600)).To(Succeed())
	alone, err := ReadTimeline(recording, Window{})
	g.Expect(err).NotTo(HaveOccurred(), "a recording needs no run")
	g.Expect(alone.Title).To(Equal("consolidation.late.room"))

	number := 30
	progress, err := report.OpenProgress(filepath.Join(run, progressFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(progress.Send(report.Message{Outcome: &report.Outcome{
		Provider: "kwok", ID: "consolidation/late/room", Suite: "consolidation", Spec: "keeps a node", Verdict: report.Failed,
		History: "/elsewhere/consolidation.late.room.jsonl.gz", Worker: 2, Took: time.Minute, Real: 4 * time.Second,
		Broke: []report.Broken{{Kind: report.BrokenCheck, What: "always one node", Event: &number}},
	}})).To(Succeed())
	g.Expect(progress.Close()).To(Succeed())
	stamp := alone.Start.Add(3 * time.Second).Format(time.RFC3339Nano)
	logOf := func(worker, container, line string) {
		file := filepath.Join(run, "logs", worker, "kube-system_karpenter-1_"+container+".log")
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(file, []byte(line), 0o600)).To(Succeed())
	}
	logOf("worker-1.1", "controller", `{"level":"INFO","time":"`+stamp+`","message":"of another cluster"}`)
	later := alone.Start.Add(4 * time.Second).Format(time.RFC3339Nano)
	logOf("worker-2.1", "simulator", `{"time":"`+later+`","level":"WARN","msg":"ec2:CreateFleet","status":503,"code":"Full"}`)
	logOf("worker-2.1", "controller", "no JSON\n"+`{"level":"INFO","time":"2020-01-01T00:00:00Z","message":"before"}`+"\n"+
		`{"level":"ERROR","time":"`+stamp+`","message":"disrupting node(s)","reconcileID":"1","Node":{"name":"a"}}`)

	exported := filepath.Join(run, "logs", "worker-2.1", "control-plane", "pods", "karpenter_karpenter-1_uid",
		"controller", "0.log")
	g.Expect(os.MkdirAll(filepath.Dir(exported), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(exported, []byte(later+` stderr F {"level":"INFO","time":"`+later+`","message":"on kind"}`), 0o600)).
		To(Succeed())

	made, err := ReadTimeline(recording, Window{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(made.Title).To(Equal("kwok: consolidation keeps a node failed [consolidation/late/room]"))
	g.Expect(made.Speed).To(Equal(15.0))
	g.Expect(made.Breaches).To(ConsistOf(HaveField("Text", "always one node")))
	g.Expect(made.Logs).To(Equal([]timeline.Note{
		{At: 3, Text: `ERROR disrupting node(s)  Node={"name":"a"}`, Source: "controller's log"},
		{At: 4, Text: "on kind", Source: "controller's log"},
		{At: 4, Text: `WARN ec2:CreateFleet  code="Full"  status=503`, Source: "simulated cloud"},
	}))

	file, err := WriteTimeline(Formats()[0], Window{}, recording, recording)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(file).To(Equal(filepath.Join(run, "histories", "consolidation.late.room.html")))
	file, err = WriteTimeline(Formats()[1], Window{}, recording, recording)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(file).To(Equal(filepath.Join(run, "histories", "consolidation.late.room.perfetto-trace")))
	g.Expect(file).To(BeARegularFile())
	g.Expect(WritePage(run, quiet)).To(Succeed())
	page, err := os.ReadFile(filepath.Join(run, PageFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(page)).To(ContainSubstring(`href="histories/consolidation.late.room.html"`))
}

func TestATimelineOfNoRecording(t *testing.T) {
	g := NewWithT(t)
	_, err := WriteTimeline(Formats()[0], Window{}, filepath.Join(t.TempDir(), "nothing.jsonl.gz"))
	g.Expect(err).To(MatchError(ContainSubstring("nothing.jsonl.gz")))
	file := filepath.Join(t.TempDir(), "text.jsonl.gz")
	g.Expect(os.WriteFile(file, []byte("hello\n"), 0o600)).To(Succeed())
	_, err = WriteTimeline(Formats()[0], Window{}, file)
	g.Expect(err).To(MatchError(And(ContainSubstring("text.jsonl.gz"), ContainSubstring("line 1"))))
}
